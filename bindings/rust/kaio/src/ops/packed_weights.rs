// Made by bindings/rust/generate.py from src/c/operations/packed_weights.json.
//! Products with packed weights of four and eight bits.

use super::*;
use crate::call::*;

/// The number that a code of four bits means; the scale of its group multiplies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum W4Codes {
    /// Code - 8, or code - zero point of its group.
    Int4 = 0,
    /// nf4 of bitsandbytes.
    Nf4 = 1,
    /// fp4 of bitsandbytes.
    Fp4 = 2,
    /// Codes of MXFP4 and NVFP4.
    E2m1 = 3,
}

impl W4Codes {
    pub(crate) fn from_raw(raw: i32) -> Result<W4Codes> {
        match raw {
            0 => Ok(W4Codes::Int4),
            1 => Ok(W4Codes::Nf4),
            2 => Ok(W4Codes::Fp4),
            3 => Ok(W4Codes::E2m1),
            other => Err(Error::internal(format!("kaio: {} is no W4Codes that this crate knows", other))),
        }
    }
}

/// The element type of the scales of packed weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum W4ScaleType {
    /// f16.
    F16 = 0,
    /// bf16.
    Bf16 = 1,
    /// f32.
    F32 = 2,
    /// e8m0.
    E8m0 = 3,
    /// e4m3.
    E4m3 = 4,
}

impl W4ScaleType {
    pub(crate) fn from_raw(raw: i32) -> Result<W4ScaleType> {
        match raw {
            0 => Ok(W4ScaleType::F16),
            1 => Ok(W4ScaleType::Bf16),
            2 => Ok(W4ScaleType::F32),
            3 => Ok(W4ScaleType::E8m0),
            4 => Ok(W4ScaleType::E4m3),
            other => Err(Error::internal(format!("kaio: {} is no W4ScaleType that this crate knows", other))),
        }
    }
}

/// The number that a code of eight bits means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum W8Codes {
    /// int8.
    Int8 = 0,
    /// e4m3.
    E4m3 = 1,
}

impl W8Codes {
    pub(crate) fn from_raw(raw: i32) -> Result<W8Codes> {
        match raw {
            0 => Ok(W8Codes::Int8),
            1 => Ok(W8Codes::E4m3),
            other => Err(Error::internal(format!("kaio: {} is no W8Codes that this crate knows", other))),
        }
    }
}

/// Packed weights W of y = x W^T, n outputs by k inputs: W\[n\]\[k\] = scale\[g\]\[n\] * (q\[n\]\[k\] -
/// zero\[g\]\[n\]) with g = k / group. repack_..._w4 writes the memory, everything else reads it.
#[derive(Clone, Debug)]
pub struct W4Weights<'a> {
    codes: W4Codes,
    n: i64,
    k: i64,
    group: i64,
    scales: W4ScaleType,
    zero_points: bool,
    act_order: bool,
    factors: bool,
    offsets: bool,
    zero: u8,
    memory: Option<TensorView<'a>>,
}

impl<'a> W4Weights<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        W4Weights {
            codes: W4Codes::Int4,
            n: 0,
            k: 0,
            group: 128,
            scales: W4ScaleType::F16,
            zero_points: false,
            act_order: false,
            factors: false,
            offsets: false,
            zero: 8,
            memory: None,
        }
    }

    setters! {
        /// The number that a code of four bits means; the scale of its group multiplies it.
        value codes(W4Codes) => codes;
        /// n.
        value n(i64) => n;
        /// k.
        value k(i64) => k;
        /// a multiple of 16; or k, also given as -1; default 128.
        value group(i64) => group;
        /// int4 f16 or bf16, with offsets f32; nf4 and fp4 f32; e2m1 e8m0 in groups of 32, or e4m3 in
        /// groups of 16.
        value scales(W4ScaleType) => scales;
        /// True: one for each group and column; else all are 8.
        value zero_points(bool) => zero_points;
        /// True: an index gives the groups of k.
        value act_order(bool) => act_order;
        /// True: an f32 multiplies each W\[n\], such as the tensor scale of NVFP4.
        value factors(bool) => factors;
        /// True: W = scale * (q - zero) + offset\[g\]\[n\], for int4 with scales of f32.
        value offsets(bool) => offsets;
        /// With offsets; else 8; default 8.
        value zero(u8) => zero;
        /// w4_packed_bytes bytes, at a multiple of 16.
        written memory(&TensorViewMut<'a>) => memory;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_w4_weights> {
        Ok(sys::kaio_w4_weights {
            codes: self.codes as i32,
            n: self.n,
            k: self.k,
            group: self.group,
            scales: self.scales as i32,
            zero_points: i32::from(self.zero_points),
            act_order: i32::from(self.act_order),
            factors: i32::from(self.factors),
            offsets: i32::from(self.offsets),
            zero: u32::from(self.zero),
            memory: hold.optional(&self.memory),
            ..Default::default()
        })
    }

    /// What C has filled; it has no tensors.
    pub(crate) fn from_raw(raw: &sys::kaio_w4_weights) -> Result<Self> {
        Ok(W4Weights {
            codes: W4Codes::from_raw(raw.codes)?,
            n: raw.n,
            k: raw.k,
            group: raw.group,
            scales: W4ScaleType::from_raw(raw.scales)?,
            zero_points: raw.zero_points != 0,
            act_order: raw.act_order != 0,
            factors: raw.factors != 0,
            offsets: raw.offsets != 0,
            zero: raw.zero as u8,
            memory: None,
        })
    }
}

impl<'a> Default for W4Weights<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Packed weights W of y = x W^T, n outputs by k inputs: W\[n\]\[k\] = scale\[g\]\[n\] * (q\[n\]\[k\] -
/// zero\[g\]\[n\]) with g = k / group. repack_..._w8 writes the memory, everything else reads it.
#[derive(Clone, Debug)]
pub struct W8Weights<'a> {
    codes: W8Codes,
    n: i64,
    k: i64,
    group: i64,
    zero_points: bool,
    act_order: bool,
    offsets: bool,
    memory: Option<TensorView<'a>>,
}

impl<'a> W8Weights<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        W8Weights {
            codes: W8Codes::Int8,
            n: 0,
            k: 0,
            group: -1,
            zero_points: false,
            act_order: false,
            offsets: false,
            memory: None,
        }
    }

    setters! {
        /// The number that a code of eight bits means.
        value codes(W8Codes) => codes;
        /// n.
        value n(i64) => n;
        /// k.
        value k(i64) => k;
        /// a multiple of 16 (int8) or 64 (e4m3); or k, also given as -1; default -1.
        value group(i64) => group;
        /// True: one for each group and column, for int8.
        value zero_points(bool) => zero_points;
        /// True: an index gives the groups of k.
        value act_order(bool) => act_order;
        /// True: W = scale * q + offset\[g\]\[n\], for int8.
        value offsets(bool) => offsets;
        /// w8_packed_bytes bytes, at a multiple of 16.
        written memory(&TensorViewMut<'a>) => memory;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_w8_weights> {
        Ok(sys::kaio_w8_weights {
            codes: self.codes as i32,
            n: self.n,
            k: self.k,
            group: self.group,
            zero_points: i32::from(self.zero_points),
            act_order: i32::from(self.act_order),
            offsets: i32::from(self.offsets),
            memory: hold.optional(&self.memory),
            ..Default::default()
        })
    }

    /// What C has filled; it has no tensors.
    pub(crate) fn from_raw(raw: &sys::kaio_w8_weights) -> Result<Self> {
        Ok(W8Weights {
            codes: W8Codes::from_raw(raw.codes)?,
            n: raw.n,
            k: raw.k,
            group: raw.group,
            zero_points: raw.zero_points != 0,
            act_order: raw.act_order != 0,
            offsets: raw.offsets != 0,
            memory: None,
        })
    }
}

impl<'a> Default for W8Weights<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of products with packed weights, of four and of eight bits.
#[derive(Clone, Debug)]
pub struct MatmulW4Options<'a> {
    splits: u32,
    constant: ConstantInputs,
    exact_weights: bool,
    bias: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
    variant: Option<String>,
}

impl<'a> MatmulW4Options<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulW4Options {
            splits: 0,
            constant: ConstantInputs(0),
            exact_weights: false,
            bias: None,
            workspace: None,
            variant: None,
        }
    }

    setters! {
        /// Parts of K; 0: the number that fills the device best.
        value splits(u32) => splits;
        /// weights.
        value constant(ConstantInputs) => constant;
        /// True: no weight is rounded to the type of x, as may be faster from 17 rows of x on.
        value exact_weights(bool) => exact_weights;
        /// (n); f16 or bf16; the element type of x.
        view bias(&TensorView<'a>) => bias;
        /// ..._workspace_bytes bytes, at a multiple of 16.
        written workspace(&TensorViewMut<'a>) => workspace;
        /// The kernel to run, as ..._choice names it; none: the best one.
        text variant(&str) => variant;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_matmul_w4_options> {
        Ok(sys::kaio_matmul_w4_options {
            splits: self.splits,
            constant: self.constant.0,
            exact_weights: i32::from(self.exact_weights),
            bias: hold.optional(&self.bias),
            workspace: hold.optional(&self.workspace),
            variant: hold.text("variant", &self.variant)?,
            ..Default::default()
        })
    }
}

impl<'a> Default for MatmulW4Options<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of grouped products with packed weights, of four and of eight bits.
#[derive(Clone, Debug)]
pub struct MatmulW4GroupedOptions<'a> {
    bias: Option<TensorView<'a>>,
    variant: Option<String>,
    rows: Option<TensorView<'a>>,
    gate: MatmulActivation,
    alpha: f32,
    limit: f32,
    up_offset: f32,
}

impl<'a> MatmulW4GroupedOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulW4GroupedOptions {
            bias: None,
            variant: None,
            rows: None,
            gate: MatmulActivation::None,
            alpha: 1.0,
            limit: 0.0,
            up_offset: 0.0,
        }
    }

    setters! {
        /// (groups, n); f16 or bf16; the element type of x.
        view bias(&TensorView<'a>) => bias;
        /// The kernel to run, as ..._choice names it; none: the best one.
        text variant(&str) => variant;
        /// (rows); i32; row r of out is of row rows\[r\] of x; an index that is no row of x counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => rows;
        /// Not none: even columns of the weights are gates, odd ones their values, and out is (rows, n /
        /// 2).
        value gate(MatmulActivation) => gate;
        /// The gate's factor: silu is x / (1 + exp(-alpha x)); above 0; default 1.0.
        value alpha(f32) => alpha;
        /// a gate is at most limit, its value is from -limit to limit; 0: none.
        value limit(f32) => limit;
        /// Added to a gate's value.
        value up_offset(f32) => up_offset;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_matmul_w4_grouped_options> {
        Ok(sys::kaio_matmul_w4_grouped_options {
            bias: hold.optional(&self.bias),
            variant: hold.text("variant", &self.variant)?,
            rows: hold.optional(&self.rows),
            gate: self.gate as i32,
            alpha: self.alpha,
            limit: self.limit,
            up_offset: self.up_offset,
            ..Default::default()
        })
    }
}

impl<'a> Default for MatmulW4GroupedOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// The bytes of packed weights of this shape. The memory may be none.
///
/// - `weights`: Packed weights W of y = x W^T, n outputs by k inputs: W\[n\]\[k\] = scale\[g\]\[n\] *
///   (q\[n\]\[k\] - zero\[g\]\[n\]) with g = k / group. repack_..._w4 writes the memory, everything else
///   reads it.
pub fn w4_packed_bytes(weights: &W4Weights<'_>) -> Result<u64> {
    let hold = Hold::new();
    let mut result = 0u64;
    call!(kaio_w4_packed_bytes(hold.keep(weights.raw(&hold)?), &mut result))?;
    Ok(result)
}

/// The bytes of packed weights of this shape. The memory may be none.
///
/// - `weights`: Packed weights W of y = x W^T, n outputs by k inputs: W\[n\]\[k\] = scale\[g\]\[n\] *
///   (q\[n\]\[k\] - zero\[g\]\[n\]) with g = k / group. repack_..._w8 writes the memory, everything else
///   reads it.
pub fn w8_packed_bytes(weights: &W8Weights<'_>) -> Result<u64> {
    let hold = Hold::new();
    let mut result = 0u64;
    call!(kaio_w8_packed_bytes(hold.keep(weights.raw(&hold)?), &mut result))?;
    Ok(result)
}

/// out = x W^T + bias with weights of four bits.
///
/// Sums are f32. Neighbours along a row of x and of out are adjacent. Fastest if rows of x begin at
/// multiples of 16 bytes. Equal calls give equal bits.
///
/// # Arguments
///
/// - `x`: (m, k); f16 or bf16.
/// - `weights`: n outputs, k inputs.
/// - `out`: written; (m, n); f16, bf16 or f32; the element type of x, or f32.
///
/// Nothing happens before `run`. Options are methods of [`MatmulW4`].
pub fn matmul_w4<'a>(x: &TensorView<'a>, weights: &W4Weights<'a>, out: &TensorViewMut<'a>) -> MatmulW4<'a> {
    MatmulW4 {
        x: *x,
        weights: weights.clone(),
        out: **out,
        options: MatmulW4Options::new(),
    }
}

/// The operation `matmul_w4`: see the function [`matmul_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulW4<'a> {
    x: TensorView<'a>,
    weights: W4Weights<'a>,
    out: TensorView<'a>,
    options: MatmulW4Options<'a>,
}

impl<'a> MatmulW4<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulW4Options<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Parts of K; 0: the number that fills the device best.
        value splits(u32) => options.splits;
        /// weights.
        value constant(ConstantInputs) => options.constant;
        /// True: no weight is rounded to the type of x, as may be faster from 17 rows of x on.
        value exact_weights(bool) => options.exact_weights;
        /// (n); f16 or bf16; the element type of x.
        view bias(&TensorView<'a>) => options.bias;
        /// ..._workspace_bytes bytes, at a multiple of 16.
        written workspace(&TensorViewMut<'a>) => options.workspace;
        /// The kernel to run, as ..._choice names it; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_w4(stream.handle(), hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_w4_warmup(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call takes; 0 if it needs none.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_matmul_w4_workspace_bytes(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), &mut bytes))?;
        Ok(bytes)
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_matmul_w4_choice(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_matmul_w4(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), hold.keep(how.raw(&hold)?), &mut
            raw))?;
        TuneReport::from_raw(&raw)
    }
}

/// out = x W^T + bias with weights of eight bits.
///
/// As matmul_w4 in all else.
///
/// # Arguments
///
/// - `x`: (m, k); f16 or bf16.
/// - `weights`: n outputs, k inputs.
/// - `out`: written; (m, n); f16, bf16 or f32; the element type of x, or f32.
///
/// Nothing happens before `run`. Options are methods of [`MatmulW8`].
pub fn matmul_w8<'a>(x: &TensorView<'a>, weights: &W8Weights<'a>, out: &TensorViewMut<'a>) -> MatmulW8<'a> {
    MatmulW8 {
        x: *x,
        weights: weights.clone(),
        out: **out,
        options: MatmulW4Options::new(),
    }
}

/// The operation `matmul_w8`: see the function [`matmul_w8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulW8<'a> {
    x: TensorView<'a>,
    weights: W8Weights<'a>,
    out: TensorView<'a>,
    options: MatmulW4Options<'a>,
}

impl<'a> MatmulW8<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulW4Options<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Parts of K; 0: the number that fills the device best.
        value splits(u32) => options.splits;
        /// weights.
        value constant(ConstantInputs) => options.constant;
        /// True: no weight is rounded to the type of x, as may be faster from 17 rows of x on.
        value exact_weights(bool) => options.exact_weights;
        /// (n); f16 or bf16; the element type of x.
        view bias(&TensorView<'a>) => options.bias;
        /// ..._workspace_bytes bytes, at a multiple of 16.
        written workspace(&TensorViewMut<'a>) => options.workspace;
        /// The kernel to run, as ..._choice names it; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_w8(stream.handle(), hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_w8_warmup(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call takes; 0 if it needs none.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_matmul_w8_workspace_bytes(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), &mut bytes))?;
        Ok(bytes)
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_matmul_w8_choice(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_matmul_w8(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), hold.keep(how.raw(&hold)?), &mut
            raw))?;
        TuneReport::from_raw(&raw)
    }
}

/// out\[r, :\] = x\[r, :\] W\[g\]^T + bias\[g, :\] where offsets\[g\] \<= r \< offsets\[g + 1\]; weights of
/// four bits. For mixtures of experts.
///
/// With a gate, out\[r, j\] = gate(min(y\[2 j\], limit)) * (clamp(y\[2 j + 1\], -limit, limit) +
/// up_offset), where y is the product of row r. gpt-oss has silu, alpha 1.702, limit 7 and up_offset 1.
///
/// The offsets are read on the device alone. Rows of no group are not written. Sums are f32. Neighbours
/// along a row of x and of out are adjacent. Fastest if rows of x begin at multiples of 16 bytes. Equal
/// calls give equal bits.
///
/// # Arguments
///
/// - `x`: (rows, k); f16 or bf16.
/// - `weights`: The shape of a group's weights; memory has w4_packed_bytes for each group, one after the
///   other.
/// - `offsets`: (groups + 1); i32; not decreasing.
/// - `out`: written; (rows, n) or (rows, n / 2); f16, bf16 or f32; the element type of x, or f32.
///
/// Nothing happens before `run`. Options are methods of [`MatmulW4Grouped`].
pub fn matmul_w4_grouped<'a>(
    x: &TensorView<'a>,
    weights: &W4Weights<'a>,
    offsets: &TensorView<'a>,
    out: &TensorViewMut<'a>,
) -> MatmulW4Grouped<'a> {
    MatmulW4Grouped {
        x: *x,
        weights: weights.clone(),
        offsets: *offsets,
        out: **out,
        options: MatmulW4GroupedOptions::new(),
    }
}

/// The operation `matmul_w4_grouped`: see the function [`matmul_w4_grouped`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulW4Grouped<'a> {
    x: TensorView<'a>,
    weights: W4Weights<'a>,
    offsets: TensorView<'a>,
    out: TensorView<'a>,
    options: MatmulW4GroupedOptions<'a>,
}

impl<'a> MatmulW4Grouped<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulW4GroupedOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (groups, n); f16 or bf16; the element type of x.
        view bias(&TensorView<'a>) => options.bias;
        /// The kernel to run, as ..._choice names it; none: the best one.
        text variant(&str) => options.variant;
        /// (rows); i32; row r of out is of row rows\[r\] of x; an index that is no row of x counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => options.rows;
        /// Not none: even columns of the weights are gates, odd ones their values, and out is (rows, n /
        /// 2).
        value gate(MatmulActivation) => options.gate;
        /// The gate's factor: silu is x / (1 + exp(-alpha x)); above 0; default 1.0.
        value alpha(f32) => options.alpha;
        /// a gate is at most limit, its value is from -limit to limit; 0: none.
        value limit(f32) => options.limit;
        /// Added to a gate's value.
        value up_offset(f32) => options.up_offset;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_w4_grouped(stream.handle(), hold.tensor(&self.x),
            hold.keep(self.weights.raw(&hold)?), hold.tensor(&self.offsets), hold.tensor(&self.out),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_w4_grouped_warmup(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.offsets), hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_matmul_w4_grouped_choice(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.offsets), hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), &mut
            raw))?;
        KernelChoice::from_raw(&raw)
    }
}

/// out\[r, :\] = x\[r, :\] W\[g\]^T + bias\[g, :\] where offsets\[g\] \<= r \< offsets\[g + 1\]; weights of
/// eight bits. For mixtures of experts.
///
/// As matmul_w4_grouped in all else.
///
/// # Arguments
///
/// - `x`: (rows, k); f16 or bf16.
/// - `weights`: The shape of a group's weights; memory has w8_packed_bytes for each group, one after the
///   other.
/// - `offsets`: (groups + 1); i32; not decreasing.
/// - `out`: written; (rows, n) or (rows, n / 2); f16, bf16 or f32; the element type of x, or f32.
///
/// Nothing happens before `run`. Options are methods of [`MatmulW8Grouped`].
pub fn matmul_w8_grouped<'a>(
    x: &TensorView<'a>,
    weights: &W8Weights<'a>,
    offsets: &TensorView<'a>,
    out: &TensorViewMut<'a>,
) -> MatmulW8Grouped<'a> {
    MatmulW8Grouped {
        x: *x,
        weights: weights.clone(),
        offsets: *offsets,
        out: **out,
        options: MatmulW4GroupedOptions::new(),
    }
}

/// The operation `matmul_w8_grouped`: see the function [`matmul_w8_grouped`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulW8Grouped<'a> {
    x: TensorView<'a>,
    weights: W8Weights<'a>,
    offsets: TensorView<'a>,
    out: TensorView<'a>,
    options: MatmulW4GroupedOptions<'a>,
}

impl<'a> MatmulW8Grouped<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulW4GroupedOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (groups, n); f16 or bf16; the element type of x.
        view bias(&TensorView<'a>) => options.bias;
        /// The kernel to run, as ..._choice names it; none: the best one.
        text variant(&str) => options.variant;
        /// (rows); i32; row r of out is of row rows\[r\] of x; an index that is no row of x counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => options.rows;
        /// Not none: even columns of the weights are gates, odd ones their values, and out is (rows, n /
        /// 2).
        value gate(MatmulActivation) => options.gate;
        /// The gate's factor: silu is x / (1 + exp(-alpha x)); above 0; default 1.0.
        value alpha(f32) => options.alpha;
        /// a gate is at most limit, its value is from -limit to limit; 0: none.
        value limit(f32) => options.limit;
        /// Added to a gate's value.
        value up_offset(f32) => options.up_offset;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_w8_grouped(stream.handle(), hold.tensor(&self.x),
            hold.keep(self.weights.raw(&hold)?), hold.tensor(&self.offsets), hold.tensor(&self.out),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_w8_grouped_warmup(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.offsets), hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_matmul_w8_grouped_choice(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.offsets), hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), &mut
            raw))?;
        KernelChoice::from_raw(&raw)
    }
}

/// out = W, as a matrix, in the order of k of the file.
///
/// Each weight is number * scale in f32, plus the offset, times the factor of its column, and rounded once
/// to the type of out.
///
/// # Arguments
///
/// - `weights`: Packed weights W of y = x W^T, n outputs by k inputs: W\[n\]\[k\] = scale\[g\]\[n\] *
///   (q\[n\]\[k\] - zero\[g\]\[n\]) with g = k / group. repack_..._w4 writes the memory, everything else
///   reads it.
/// - `out`: written; (n, k); f32, f16 or bf16; any strides.
///
/// Nothing happens before `run`. Options are methods of [`DequantiseW4`].
pub fn dequantise_w4<'a>(weights: &W4Weights<'a>, out: &TensorViewMut<'a>) -> DequantiseW4<'a> {
    DequantiseW4 {
        weights: weights.clone(),
        out: **out,
    }
}

/// The operation `dequantise_w4`: see the function [`dequantise_w4`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct DequantiseW4<'a> {
    weights: W4Weights<'a>,
    out: TensorView<'a>,
}

impl<'a> DequantiseW4<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_w4(stream.handle(), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_w4_warmup(hold.keep(self.weights.raw(&hold)?), hold.tensor(&self.out)))
    }
}

/// out = W, as a matrix, in the order of k of the file.
///
/// As dequantise_w4 in all else.
///
/// # Arguments
///
/// - `weights`: Packed weights W of y = x W^T, n outputs by k inputs: W\[n\]\[k\] = scale\[g\]\[n\] *
///   (q\[n\]\[k\] - zero\[g\]\[n\]) with g = k / group. repack_..._w8 writes the memory, everything else
///   reads it.
/// - `out`: written; (n, k); f32, f16 or bf16; any strides.
///
/// Nothing happens before `run`. Options are methods of [`DequantiseW8`].
pub fn dequantise_w8<'a>(weights: &W8Weights<'a>, out: &TensorViewMut<'a>) -> DequantiseW8<'a> {
    DequantiseW8 {
        weights: weights.clone(),
        out: **out,
    }
}

/// The operation `dequantise_w8`: see the function [`dequantise_w8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct DequantiseW8<'a> {
    weights: W8Weights<'a>,
    out: TensorView<'a>,
}

impl<'a> DequantiseW8<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_w8(stream.handle(), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_dequantise_w8_warmup(hold.keep(self.weights.raw(&hold)?), hold.tensor(&self.out)))
    }
}
