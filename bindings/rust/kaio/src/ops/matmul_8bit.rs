// Made by bindings/rust/generate.py from src/c/operations/matmul_8bit.json.
//! Products of numbers of 8 bits.

use super::*;
use crate::call::*;

/// C = activation(scale_a\[m\] * scale_b\[n\] * (A * B) * alpha + bias) + residual. Scales that are none
/// are 1.
#[derive(Clone, Debug)]
pub struct MatmulInt8Options<'a> {
    alpha: f32,
    out_scale: f32,
    activation: MatmulActivation,
    constant: ConstantInputs,
    bias_of_rows: bool,
    scale_a: Option<TensorView<'a>>,
    scale_b: Option<TensorView<'a>>,
    zero_a: Option<TensorView<'a>>,
    column_sums: Option<TensorView<'a>>,
    bias: Option<TensorView<'a>>,
    residual: Option<TensorView<'a>>,
    variant: Option<String>,
}

impl<'a> MatmulInt8Options<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulInt8Options {
            alpha: 1.0,
            out_scale: 1.0,
            activation: MatmulActivation::None,
            constant: ConstantInputs(0),
            bias_of_rows: false,
            scale_a: None,
            scale_b: None,
            zero_a: None,
            column_sums: None,
            bias: None,
            residual: None,
            variant: None,
        }
    }

    setters! {
        /// Alpha; default 1.0.
        value alpha(f32) => alpha;
        /// c of i8 is the result / out_scale; above 0 and finite; default 1.0.
        value out_scale(f32) => out_scale;
        /// The activation function of a product.
        value activation(MatmulActivation) => activation;
        /// a, b.
        value constant(ConstantInputs) => constant;
        /// True: bias has a number for each row of C.
        value bias_of_rows(bool) => bias_of_rows;
        /// (m), (1) or (batch, m); f32, f16 or bf16; scales of the rows of A.
        view scale_a(&TensorView<'a>) => scale_a;
        /// (n), (1) or (batch, n); f32, f16 or bf16; scales of the columns of B.
        view scale_b(&TensorView<'a>) => scale_b;
        /// (m), (1) or (batch, m); i32; zero points of the rows of A; they need column_sums.
        view zero_a(&TensorView<'a>) => zero_a;
        /// (n) or (batch, n); i32; the sums of B's columns, from int8_column_sums; with zero_a.
        view column_sums(&TensorView<'a>) => column_sums;
        /// (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16.
        view bias(&TensorView<'a>) => bias;
        /// (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself.
        view residual(&TensorView<'a>) => residual;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => variant;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_matmul_int8_options> {
        Ok(sys::kaio_matmul_int8_options {
            alpha: self.alpha,
            out_scale: self.out_scale,
            activation: self.activation as i32,
            constant: self.constant.0,
            bias_of_rows: i32::from(self.bias_of_rows),
            scale_a: hold.optional(&self.scale_a),
            scale_b: hold.optional(&self.scale_b),
            zero_a: hold.optional(&self.zero_a),
            column_sums: hold.optional(&self.column_sums),
            bias: hold.optional(&self.bias),
            residual: hold.optional(&self.residual),
            variant: hold.text("variant", &self.variant)?,
            ..Default::default()
        })
    }
}

impl<'a> Default for MatmulInt8Options<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// C = activation(scale_a\[m\] * scale_b\[n\] * (A * B) * alpha + bias) + residual. Scales that are none
/// are 1.
#[derive(Clone, Debug)]
pub struct MatmulFp8Options<'a> {
    alpha: f32,
    out_scale: f32,
    activation: MatmulActivation,
    constant: ConstantInputs,
    bias_of_rows: bool,
    scale_a: Option<TensorView<'a>>,
    scale_b: Option<TensorView<'a>>,
    groups_a: Option<TensorView<'a>>,
    blocks_b: Option<TensorView<'a>>,
    bias: Option<TensorView<'a>>,
    residual: Option<TensorView<'a>>,
    variant: Option<String>,
}

impl<'a> MatmulFp8Options<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulFp8Options {
            alpha: 1.0,
            out_scale: 1.0,
            activation: MatmulActivation::None,
            constant: ConstantInputs(0),
            bias_of_rows: false,
            scale_a: None,
            scale_b: None,
            groups_a: None,
            blocks_b: None,
            bias: None,
            residual: None,
            variant: None,
        }
    }

    setters! {
        /// Alpha; default 1.0.
        value alpha(f32) => alpha;
        /// c of e4m3 is the result / out_scale; above 0 and finite; default 1.0.
        value out_scale(f32) => out_scale;
        /// The activation function of a product.
        value activation(MatmulActivation) => activation;
        /// a, b.
        value constant(ConstantInputs) => constant;
        /// True: bias has a number for each row of C.
        value bias_of_rows(bool) => bias_of_rows;
        /// (m), (1) or (batch, m); f32, f16 or bf16; scales of the rows of A.
        view scale_a(&TensorView<'a>) => scale_a;
        /// (n), (1) or (batch, n); f32, f16 or bf16; scales of the columns of B.
        view scale_b(&TensorView<'a>) => scale_b;
        /// (m, ceil(k / 128)) or (batch, m, ceil(k / 128)); f32; scales of 128 neighbours of a row of A;
        /// with blocks_b.
        view groups_a(&TensorView<'a>) => groups_a;
        /// (ceil(k / 128), ceil(n / 128)), or with the batch first; f32; scales of blocks of 128 x 128 of
        /// B; with groups_a.
        view blocks_b(&TensorView<'a>) => blocks_b;
        /// (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16.
        view bias(&TensorView<'a>) => bias;
        /// (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself.
        view residual(&TensorView<'a>) => residual;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => variant;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_matmul_fp8_options> {
        Ok(sys::kaio_matmul_fp8_options {
            alpha: self.alpha,
            out_scale: self.out_scale,
            activation: self.activation as i32,
            constant: self.constant.0,
            bias_of_rows: i32::from(self.bias_of_rows),
            scale_a: hold.optional(&self.scale_a),
            scale_b: hold.optional(&self.scale_b),
            groups_a: hold.optional(&self.groups_a),
            blocks_b: hold.optional(&self.blocks_b),
            bias: hold.optional(&self.bias),
            residual: hold.optional(&self.residual),
            variant: hold.text("variant", &self.variant)?,
            ..Default::default()
        })
    }
}

impl<'a> Default for MatmulFp8Options<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// c\[r, :\] = scale_a\[r\] * scale_b\[g\]\[n\] * (A * B\[g\]) + bias\[g\]\[n\]. Scales that are none are
/// 1.
#[derive(Clone, Debug)]
pub struct MatmulInt8GroupedOptions<'a> {
    scale_a: Option<TensorView<'a>>,
    scale_b: Option<TensorView<'a>>,
    bias: Option<TensorView<'a>>,
    rows: Option<TensorView<'a>>,
    gate: MatmulActivation,
    zero_a: Option<TensorView<'a>>,
    column_sums: Option<TensorView<'a>>,
    alpha: f32,
    limit: f32,
    up_offset: f32,
}

impl<'a> MatmulInt8GroupedOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulInt8GroupedOptions {
            scale_a: None,
            scale_b: None,
            bias: None,
            rows: None,
            gate: MatmulActivation::None,
            zero_a: None,
            column_sums: None,
            alpha: 1.0,
            limit: 0.0,
            up_offset: 0.0,
        }
    }

    setters! {
        /// (rows of A) or (1); f32, f16 or bf16; scales of the rows of A.
        view scale_a(&TensorView<'a>) => scale_a;
        /// (groups, n) or (groups, 1); f32, f16 or bf16; scales of the columns of each B.
        view scale_b(&TensorView<'a>) => scale_b;
        /// (groups, n); f32, f16 or bf16.
        view bias(&TensorView<'a>) => bias;
        /// (rows); i32; row r of c is of row rows\[r\] of A; an index that is no row of A counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => rows;
        /// Not none: columns 8 i to 8 i + 3 of B are gates, the next four their values, and c is (rows, n /
        /// 2).
        value gate(MatmulActivation) => gate;
        /// (rows of A) or (1); i32; zero points of the rows of A; with column_sums.
        view zero_a(&TensorView<'a>) => zero_a;
        /// (groups, n); i32; the sums of the columns of each B; with zero_a.
        view column_sums(&TensorView<'a>) => column_sums;
        /// The gate's factor: silu is x / (1 + exp(-alpha x)); above 0; default 1.0.
        value alpha(f32) => alpha;
        /// a gate is at most limit, its value is from -limit to limit; 0: none.
        value limit(f32) => limit;
        /// Added to a gate's value.
        value up_offset(f32) => up_offset;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_matmul_int8_grouped_options> {
        Ok(sys::kaio_matmul_int8_grouped_options {
            scale_a: hold.optional(&self.scale_a),
            scale_b: hold.optional(&self.scale_b),
            bias: hold.optional(&self.bias),
            rows: hold.optional(&self.rows),
            gate: self.gate as i32,
            zero_a: hold.optional(&self.zero_a),
            column_sums: hold.optional(&self.column_sums),
            alpha: self.alpha,
            limit: self.limit,
            up_offset: self.up_offset,
            ..Default::default()
        })
    }
}

impl<'a> Default for MatmulInt8GroupedOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// c\[r, :\] = scale_a\[r\] * scale_b\[g\]\[n\] * (A * B\[g\]) + bias\[g\]\[n\]. Scales that are none are
/// 1.
#[derive(Clone, Debug)]
pub struct MatmulFp8GroupedOptions<'a> {
    scale_a: Option<TensorView<'a>>,
    scale_b: Option<TensorView<'a>>,
    groups_a: Option<TensorView<'a>>,
    blocks_b: Option<TensorView<'a>>,
    bias: Option<TensorView<'a>>,
    rows: Option<TensorView<'a>>,
    gate: MatmulActivation,
    alpha: f32,
    limit: f32,
    up_offset: f32,
}

impl<'a> MatmulFp8GroupedOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulFp8GroupedOptions {
            scale_a: None,
            scale_b: None,
            groups_a: None,
            blocks_b: None,
            bias: None,
            rows: None,
            gate: MatmulActivation::None,
            alpha: 1.0,
            limit: 0.0,
            up_offset: 0.0,
        }
    }

    setters! {
        /// (rows of A) or (1); f32, f16 or bf16; scales of the rows of A.
        view scale_a(&TensorView<'a>) => scale_a;
        /// (groups, n) or (groups, 1); f32, f16 or bf16; scales of the columns of each B.
        view scale_b(&TensorView<'a>) => scale_b;
        /// (rows of A, ceil(k / 128)); f32; scales of 128 neighbours of a row of A; with blocks_b.
        view groups_a(&TensorView<'a>) => groups_a;
        /// (groups, ceil(k / 128), ceil(n / 128)); f32; scales of blocks of 128 x 128 of each B; with
        /// groups_a.
        view blocks_b(&TensorView<'a>) => blocks_b;
        /// (groups, n); f32, f16 or bf16.
        view bias(&TensorView<'a>) => bias;
        /// (rows); i32; row r of c is of row rows\[r\] of A; an index that is no row of A counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => rows;
        /// Not none: columns 8 i to 8 i + 3 of B are gates, the next four their values, and c is (rows, n /
        /// 2).
        value gate(MatmulActivation) => gate;
        /// The gate's factor: silu is x / (1 + exp(-alpha x)); above 0; default 1.0.
        value alpha(f32) => alpha;
        /// a gate is at most limit, its value is from -limit to limit; 0: none.
        value limit(f32) => limit;
        /// Added to a gate's value.
        value up_offset(f32) => up_offset;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_matmul_fp8_grouped_options> {
        Ok(sys::kaio_matmul_fp8_grouped_options {
            scale_a: hold.optional(&self.scale_a),
            scale_b: hold.optional(&self.scale_b),
            groups_a: hold.optional(&self.groups_a),
            blocks_b: hold.optional(&self.blocks_b),
            bias: hold.optional(&self.bias),
            rows: hold.optional(&self.rows),
            gate: self.gate as i32,
            alpha: self.alpha,
            limit: self.limit,
            up_offset: self.up_offset,
            ..Default::default()
        })
    }
}

impl<'a> Default for MatmulFp8GroupedOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// C = activation(scale_a\[m\] * scale_b\[n\] * (A * B - zero_a\[m\] * column_sums\[n\]) * alpha + bias) +
/// residual.
///
/// Sums are exact in i32. Each product after them is rounded to f32, and the result once to the type of C.
/// If C is i32, it gets the sums: there are no scales, alpha, bias, activation and residual then.
///
/// Rows of A and of C are contiguous, and the columns or the rows of B. Weights stored (n, k) are the fast
/// way: give them with the strides (1, k).
///
/// # Arguments
///
/// - `a`: (m, k) or (batch, m, k); i8.
/// - `b`: (k, n) or (batch, k, n); i8.
/// - `c`: written; (m, n) or (batch, m, n); f32, f16, bf16, i8 or i32.
///
/// Nothing happens before `run`. Options are methods of [`MatmulInt8`].
pub fn matmul_int8<'a>(a: &TensorView<'a>, b: &TensorView<'a>, c: &TensorViewMut<'a>) -> MatmulInt8<'a> {
    MatmulInt8 {
        a: *a,
        b: *b,
        c: **c,
        options: MatmulInt8Options::new(),
    }
}

/// The operation `matmul_int8`: see the function [`matmul_int8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulInt8<'a> {
    a: TensorView<'a>,
    b: TensorView<'a>,
    c: TensorView<'a>,
    options: MatmulInt8Options<'a>,
}

impl<'a> MatmulInt8<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulInt8Options<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Alpha; default 1.0.
        value alpha(f32) => options.alpha;
        /// c of i8 is the result / out_scale; above 0 and finite; default 1.0.
        value out_scale(f32) => options.out_scale;
        /// The activation function of a product.
        value activation(MatmulActivation) => options.activation;
        /// a, b.
        value constant(ConstantInputs) => options.constant;
        /// True: bias has a number for each row of C.
        value bias_of_rows(bool) => options.bias_of_rows;
        /// (m), (1) or (batch, m); f32, f16 or bf16; scales of the rows of A.
        view scale_a(&TensorView<'a>) => options.scale_a;
        /// (n), (1) or (batch, n); f32, f16 or bf16; scales of the columns of B.
        view scale_b(&TensorView<'a>) => options.scale_b;
        /// (m), (1) or (batch, m); i32; zero points of the rows of A; they need column_sums.
        view zero_a(&TensorView<'a>) => options.zero_a;
        /// (n) or (batch, n); i32; the sums of B's columns, from int8_column_sums; with zero_a.
        view column_sums(&TensorView<'a>) => options.column_sums;
        /// (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16.
        view bias(&TensorView<'a>) => options.bias;
        /// (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself.
        view residual(&TensorView<'a>) => options.residual;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_int8(stream.handle(), hold.tensor(&self.a), hold.tensor(&self.b),
            hold.tensor(&self.c), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_int8_warmup(hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_matmul_int8_choice(hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_matmul_int8(hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?), hold.keep(how.raw(&hold)?), &mut raw))?;
        TuneReport::from_raw(&raw)
    }
}

/// c\[r, :\] = scale_a\[r\] * scale_b\[g\] * (a\[r, :\] * b\[g\]) + bias\[g\] where offsets\[g\] \<= r \<
/// offsets\[g + 1\]. For mixtures of experts.
///
/// With a gate, c\[r, 4 i + j\] = gate(min(y\[8 i + j\], limit)) * (clamp(y\[8 i + 4 + j\], -limit, limit)
/// \+ up_offset), where y is the product of row r. n / 2 is a multiple of 4; with blocks_b it is one of 64,
/// and the blocks are those of weights with all gates first.
///
/// The offsets are read on the device alone. Rows of no group are not written. Numbers are those of
/// matmul_int8. Fastest if neighbours of a and b are along k, in lines at multiples of 16 bytes. Equal
/// calls give equal bits.
///
/// # Arguments
///
/// - `a`: (rows, k); i8.
/// - `b`: (groups, k, n); i8; any strides: weights (groups, n, k) with the last two exchanged.
/// - `offsets`: (groups + 1); i32; not decreasing.
/// - `c`: written; (rows, n) or (rows, n / 2); f32, f16, bf16 or i32; i32 has the sums, without scales,
///   bias or gate.
///
/// Nothing happens before `run`. Options are methods of [`MatmulInt8Grouped`].
pub fn matmul_int8_grouped<'a>(
    a: &TensorView<'a>,
    b: &TensorView<'a>,
    offsets: &TensorView<'a>,
    c: &TensorViewMut<'a>,
) -> MatmulInt8Grouped<'a> {
    MatmulInt8Grouped {
        a: *a,
        b: *b,
        offsets: *offsets,
        c: **c,
        options: MatmulInt8GroupedOptions::new(),
    }
}

/// The operation `matmul_int8_grouped`: see the function [`matmul_int8_grouped`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulInt8Grouped<'a> {
    a: TensorView<'a>,
    b: TensorView<'a>,
    offsets: TensorView<'a>,
    c: TensorView<'a>,
    options: MatmulInt8GroupedOptions<'a>,
}

impl<'a> MatmulInt8Grouped<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulInt8GroupedOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (rows of A) or (1); f32, f16 or bf16; scales of the rows of A.
        view scale_a(&TensorView<'a>) => options.scale_a;
        /// (groups, n) or (groups, 1); f32, f16 or bf16; scales of the columns of each B.
        view scale_b(&TensorView<'a>) => options.scale_b;
        /// (groups, n); f32, f16 or bf16.
        view bias(&TensorView<'a>) => options.bias;
        /// (rows); i32; row r of c is of row rows\[r\] of A; an index that is no row of A counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => options.rows;
        /// Not none: columns 8 i to 8 i + 3 of B are gates, the next four their values, and c is (rows, n /
        /// 2).
        value gate(MatmulActivation) => options.gate;
        /// (rows of A) or (1); i32; zero points of the rows of A; with column_sums.
        view zero_a(&TensorView<'a>) => options.zero_a;
        /// (groups, n); i32; the sums of the columns of each B; with zero_a.
        view column_sums(&TensorView<'a>) => options.column_sums;
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
        call!(kaio_matmul_int8_grouped(stream.handle(), hold.tensor(&self.a), hold.tensor(&self.b),
            hold.tensor(&self.offsets), hold.tensor(&self.c), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_int8_grouped_warmup(hold.tensor(&self.a), hold.tensor(&self.b),
            hold.tensor(&self.offsets), hold.tensor(&self.c), hold.keep(self.options.raw(&hold)?)))
    }
}

/// c\[r, :\] = scale_a\[r\] * scale_b\[g\] * (a\[r, :\] * b\[g\]) + bias\[g\] where offsets\[g\] \<= r \<
/// offsets\[g + 1\]. For mixtures of experts.
///
/// With a gate, c\[r, 4 i + j\] = gate(min(y\[8 i + j\], limit)) * (clamp(y\[8 i + 4 + j\], -limit, limit)
/// \+ up_offset), where y is the product of row r. n / 2 is a multiple of 4; with blocks_b it is one of 64,
/// and the blocks are those of weights with all gates first.
///
/// The offsets are read on the device alone. Rows of no group are not written. Numbers are those of
/// matmul_fp8. Fastest if neighbours of a and b are along k, in lines at multiples of 16 bytes. Equal calls
/// give equal bits.
///
/// # Arguments
///
/// - `a`: (rows, k); e4m3 or e5m2.
/// - `b`: (groups, k, n); e4m3 or e5m2; any strides: weights (groups, n, k) with the last two exchanged.
/// - `offsets`: (groups + 1); i32; not decreasing.
/// - `c`: written; (rows, n) or (rows, n / 2); f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`MatmulFp8Grouped`].
pub fn matmul_fp8_grouped<'a>(
    a: &TensorView<'a>,
    b: &TensorView<'a>,
    offsets: &TensorView<'a>,
    c: &TensorViewMut<'a>,
) -> MatmulFp8Grouped<'a> {
    MatmulFp8Grouped {
        a: *a,
        b: *b,
        offsets: *offsets,
        c: **c,
        options: MatmulFp8GroupedOptions::new(),
    }
}

/// The operation `matmul_fp8_grouped`: see the function [`matmul_fp8_grouped`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulFp8Grouped<'a> {
    a: TensorView<'a>,
    b: TensorView<'a>,
    offsets: TensorView<'a>,
    c: TensorView<'a>,
    options: MatmulFp8GroupedOptions<'a>,
}

impl<'a> MatmulFp8Grouped<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulFp8GroupedOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (rows of A) or (1); f32, f16 or bf16; scales of the rows of A.
        view scale_a(&TensorView<'a>) => options.scale_a;
        /// (groups, n) or (groups, 1); f32, f16 or bf16; scales of the columns of each B.
        view scale_b(&TensorView<'a>) => options.scale_b;
        /// (rows of A, ceil(k / 128)); f32; scales of 128 neighbours of a row of A; with blocks_b.
        view groups_a(&TensorView<'a>) => options.groups_a;
        /// (groups, ceil(k / 128), ceil(n / 128)); f32; scales of blocks of 128 x 128 of each B; with
        /// groups_a.
        view blocks_b(&TensorView<'a>) => options.blocks_b;
        /// (groups, n); f32, f16 or bf16.
        view bias(&TensorView<'a>) => options.bias;
        /// (rows); i32; row r of c is of row rows\[r\] of A; an index that is no row of A counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => options.rows;
        /// Not none: columns 8 i to 8 i + 3 of B are gates, the next four their values, and c is (rows, n /
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
        call!(kaio_matmul_fp8_grouped(stream.handle(), hold.tensor(&self.a), hold.tensor(&self.b),
            hold.tensor(&self.offsets), hold.tensor(&self.c), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_fp8_grouped_warmup(hold.tensor(&self.a), hold.tensor(&self.b),
            hold.tensor(&self.offsets), hold.tensor(&self.c), hold.keep(self.options.raw(&hold)?)))
    }
}

/// sums\[n\] = sum over k of B\[k\]\[n\], exact: column_sums of products with zero_a, once for each weight.
///
/// # Arguments
///
/// - `b`: (k, n); i8; any strides.
/// - `sums`: written; (n); i32.
///
/// Nothing happens before `run`. Options are methods of [`Int8ColumnSums`].
pub fn int8_column_sums<'a>(b: &TensorView<'a>, sums: &TensorViewMut<'a>) -> Int8ColumnSums<'a> {
    Int8ColumnSums {
        b: *b,
        sums: **sums,
    }
}

/// The operation `int8_column_sums`: see the function [`int8_column_sums`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Int8ColumnSums<'a> {
    b: TensorView<'a>,
    sums: TensorView<'a>,
}

impl<'a> Int8ColumnSums<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_int8_column_sums(stream.handle(), hold.tensor(&self.b), hold.tensor(&self.sums)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_int8_column_sums_warmup(hold.tensor(&self.b), hold.tensor(&self.sums)))
    }
}

/// Rounds x to codes of i8: x = codes * scale, or (codes - zero_points\[row\]) * scales\[row\].
///
/// Without scales, `scale` serves all rows. With scales, each row gets max |x| / 127; with zero_points too,
/// its range / 255. Rows of x and of codes are contiguous.
///
/// # Arguments
///
/// - `x`: (rows, columns); f32, f16 or bf16.
/// - `codes`: written; as x; i8.
///
/// Nothing happens before `run`. Options are methods of [`QuantiseInt8`].
pub fn quantise_int8<'a>(x: &TensorView<'a>, codes: &TensorViewMut<'a>) -> QuantiseInt8<'a> {
    QuantiseInt8 {
        x: *x,
        codes: **codes,
        scales: None,
        zero_points: None,
        scale: 0.0,
    }
}

/// The operation `quantise_int8`: see the function [`quantise_int8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct QuantiseInt8<'a> {
    x: TensorView<'a>,
    codes: TensorView<'a>,
    scales: Option<TensorView<'a>>,
    zero_points: Option<TensorView<'a>>,
    scale: f32,
}

impl<'a> QuantiseInt8<'a> {
    setters! {
        /// (rows); f32; none: `scale` is the scale of all rows.
        written scales(&TensorViewMut<'a>) => scales;
        /// (rows); i32; none: symmetric; needs scales.
        written zero_points(&TensorViewMut<'a>) => zero_points;
        /// Above 0 and finite; not read if scales are given.
        value scale(f32) => scale;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_int8(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.codes),
            hold.optional(&self.scales), hold.optional(&self.zero_points), self.scale))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_int8_warmup(hold.tensor(&self.x), hold.tensor(&self.codes),
            hold.optional(&self.scales), hold.optional(&self.zero_points), self.scale))
    }
}

/// C = activation(scale_a\[m\] * scale_b\[n\] * (A * B) * alpha + bias) + residual for 8-bit floats.
///
/// With groups_a and blocks_b, each sum over 128 of K is multiplied by its two scales first. Each product
/// and quotient after the sums is rounded to f32, and the result once to the type of C.
///
/// The fast kernels take A and B of one type along K: weights stored (n, k), given with the strides (1, k).
///
/// # Arguments
///
/// - `a`: (m, k) or (batch, m, k); e4m3 or e5m2.
/// - `b`: (k, n) or (batch, k, n); e4m3 or e5m2.
/// - `c`: written; (m, n) or (batch, m, n); f32, f16, bf16 or e4m3.
///
/// Nothing happens before `run`. Options are methods of [`MatmulFp8`].
pub fn matmul_fp8<'a>(a: &TensorView<'a>, b: &TensorView<'a>, c: &TensorViewMut<'a>) -> MatmulFp8<'a> {
    MatmulFp8 {
        a: *a,
        b: *b,
        c: **c,
        options: MatmulFp8Options::new(),
    }
}

/// The operation `matmul_fp8`: see the function [`matmul_fp8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulFp8<'a> {
    a: TensorView<'a>,
    b: TensorView<'a>,
    c: TensorView<'a>,
    options: MatmulFp8Options<'a>,
}

impl<'a> MatmulFp8<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulFp8Options<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Alpha; default 1.0.
        value alpha(f32) => options.alpha;
        /// c of e4m3 is the result / out_scale; above 0 and finite; default 1.0.
        value out_scale(f32) => options.out_scale;
        /// The activation function of a product.
        value activation(MatmulActivation) => options.activation;
        /// a, b.
        value constant(ConstantInputs) => options.constant;
        /// True: bias has a number for each row of C.
        value bias_of_rows(bool) => options.bias_of_rows;
        /// (m), (1) or (batch, m); f32, f16 or bf16; scales of the rows of A.
        view scale_a(&TensorView<'a>) => options.scale_a;
        /// (n), (1) or (batch, n); f32, f16 or bf16; scales of the columns of B.
        view scale_b(&TensorView<'a>) => options.scale_b;
        /// (m, ceil(k / 128)) or (batch, m, ceil(k / 128)); f32; scales of 128 neighbours of a row of A;
        /// with blocks_b.
        view groups_a(&TensorView<'a>) => options.groups_a;
        /// (ceil(k / 128), ceil(n / 128)), or with the batch first; f32; scales of blocks of 128 x 128 of
        /// B; with groups_a.
        view blocks_b(&TensorView<'a>) => options.blocks_b;
        /// (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16.
        view bias(&TensorView<'a>) => options.bias;
        /// (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself.
        view residual(&TensorView<'a>) => options.residual;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_fp8(stream.handle(), hold.tensor(&self.a), hold.tensor(&self.b),
            hold.tensor(&self.c), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_fp8_warmup(hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_matmul_fp8_choice(hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_matmul_fp8(hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?), hold.keep(how.raw(&hold)?), &mut raw))?;
        TuneReport::from_raw(&raw)
    }
}

/// Rounds x to codes of e4m3: x = codes * scale.
///
/// Without scales, `scale` serves all numbers. Else a scale is max |x| / 448 of its row, or of 128
/// neighbours of a row. Rows of x and of codes are contiguous.
///
/// # Arguments
///
/// - `x`: (rows, columns); f32, f16 or bf16.
/// - `codes`: written; as x; e4m3.
///
/// Nothing happens before `run`. Options are methods of [`QuantiseFp8`].
pub fn quantise_fp8<'a>(x: &TensorView<'a>, codes: &TensorViewMut<'a>) -> QuantiseFp8<'a> {
    QuantiseFp8 {
        x: *x,
        codes: **codes,
        scales: None,
        scale: 0.0,
    }
}

/// The operation `quantise_fp8`: see the function [`quantise_fp8`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct QuantiseFp8<'a> {
    x: TensorView<'a>,
    codes: TensorView<'a>,
    scales: Option<TensorView<'a>>,
    scale: f32,
}

impl<'a> QuantiseFp8<'a> {
    setters! {
        /// (rows) or (rows, ceil(columns / 128)); f32; none: `scale` is the scale of all numbers.
        written scales(&TensorViewMut<'a>) => scales;
        /// Above 0 and finite; not read if scales are given.
        value scale(f32) => scale;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_fp8(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.codes),
            hold.optional(&self.scales), self.scale))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_fp8_warmup(hold.tensor(&self.x), hold.tensor(&self.codes),
            hold.optional(&self.scales), self.scale))
    }
}

/// Rounds w to codes of e4m3 with a scale for each block of 128 x 128, max |w| / 448.
///
/// # Arguments
///
/// - `w`: (rows, columns); f32, f16 or bf16.
/// - `codes`: written; as w; e4m3.
/// - `blocks`: written; (ceil(rows / 128), ceil(columns / 128)); f32.
///
/// Nothing happens before `run`. Options are methods of [`QuantiseFp8Blocks`].
pub fn quantise_fp8_blocks<'a>(
    w: &TensorView<'a>,
    codes: &TensorViewMut<'a>,
    blocks: &TensorViewMut<'a>,
) -> QuantiseFp8Blocks<'a> {
    QuantiseFp8Blocks {
        w: *w,
        codes: **codes,
        blocks: **blocks,
    }
}

/// The operation `quantise_fp8_blocks`: see the function [`quantise_fp8_blocks`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct QuantiseFp8Blocks<'a> {
    w: TensorView<'a>,
    codes: TensorView<'a>,
    blocks: TensorView<'a>,
}

impl<'a> QuantiseFp8Blocks<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_fp8_blocks(stream.handle(), hold.tensor(&self.w), hold.tensor(&self.codes),
            hold.tensor(&self.blocks)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_quantise_fp8_blocks_warmup(hold.tensor(&self.w), hold.tensor(&self.codes),
            hold.tensor(&self.blocks)))
    }
}
