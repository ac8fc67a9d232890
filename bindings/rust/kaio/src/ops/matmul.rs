// Made by bindings/rust/generate.py from src/c/operations/matmul.json.
//! Products of matrices.

use super::*;
use crate::call::*;

/// The activation function of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum MatmulActivation {
    /// none.
    None = 0,
    /// relu.
    Relu = 1,
    /// By erf.
    Gelu = 2,
    /// Gelu tanh.
    GeluTanh = 3,
    /// silu.
    Silu = 4,
}

impl MatmulActivation {
    pub(crate) fn from_raw(raw: i32) -> Result<MatmulActivation> {
        match raw {
            0 => Ok(MatmulActivation::None),
            1 => Ok(MatmulActivation::Relu),
            2 => Ok(MatmulActivation::Gelu),
            3 => Ok(MatmulActivation::GeluTanh),
            4 => Ok(MatmulActivation::Silu),
            other => Err(Error::internal(format!("kaio: {} is no MatmulActivation that this crate knows", other))),
        }
    }
}

/// How products of f32 are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum MatmulPrecision {
    /// multiply-adds in f32.
    Ieee = 0,
    /// Tensor cores, inputs rounded to 11 significant bits.
    Tf32 = 1,
    /// Three products of such numbers: about 22 significant bits.
    Tf32x3 = 2,
}

impl MatmulPrecision {
    pub(crate) fn from_raw(raw: i32) -> Result<MatmulPrecision> {
        match raw {
            0 => Ok(MatmulPrecision::Ieee),
            1 => Ok(MatmulPrecision::Tf32),
            2 => Ok(MatmulPrecision::Tf32x3),
            other => Err(Error::internal(format!("kaio: {} is no MatmulPrecision that this crate knows", other))),
        }
    }
}

/// C = activation(alpha * A * B + beta * C + bias) + residual.
#[derive(Clone, Debug)]
pub struct MatmulOptions<'a> {
    alpha: f32,
    beta: f32,
    activation: MatmulActivation,
    precision: MatmulPrecision,
    constant: ConstantInputs,
    bias_of_rows: bool,
    bias: Option<TensorView<'a>>,
    residual: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
    variant: Option<String>,
}

impl<'a> MatmulOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulOptions {
            alpha: 1.0,
            beta: 0.0,
            activation: MatmulActivation::None,
            precision: MatmulPrecision::Ieee,
            constant: ConstantInputs(0),
            bias_of_rows: false,
            bias: None,
            residual: None,
            workspace: None,
            variant: None,
        }
    }

    setters! {
        /// 0: A and B are not read; default 1.0.
        value alpha(f32) => alpha;
        /// 0: C is not read.
        value beta(f32) => beta;
        /// The activation function of a product.
        value activation(MatmulActivation) => activation;
        /// For operands of f32.
        value precision(MatmulPrecision) => precision;
        /// a, b.
        value constant(ConstantInputs) => constant;
        /// True: bias has a number for each row of C.
        value bias_of_rows(bool) => bias_of_rows;
        /// (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16.
        view bias(&TensorView<'a>) => bias;
        /// (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself.
        view residual(&TensorView<'a>) => residual;
        /// `workspace_bytes`; without it, K is not split.
        written workspace(&TensorViewMut<'a>) => workspace;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => variant;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_matmul_options> {
        Ok(sys::kaio_matmul_options {
            alpha: self.alpha,
            beta: self.beta,
            activation: self.activation as i32,
            precision: self.precision as i32,
            constant: self.constant.0,
            bias_of_rows: i32::from(self.bias_of_rows),
            bias: hold.optional(&self.bias),
            residual: hold.optional(&self.residual),
            workspace: hold.optional(&self.workspace),
            variant: hold.text("variant", &self.variant)?,
            ..Default::default()
        })
    }
}

impl<'a> Default for MatmulOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of the gradients of a product.
#[derive(Clone, Debug)]
pub struct MatmulBackwardOptions<'a> {
    alpha: f32,
    accumulate: bool,
    precision: MatmulPrecision,
    workspace: Option<TensorView<'a>>,
}

impl<'a> MatmulBackwardOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulBackwardOptions {
            alpha: 1.0,
            accumulate: false,
            precision: MatmulPrecision::Ieee,
            workspace: None,
        }
    }

    setters! {
        /// Alpha of the product that is differentiated; default 1.0.
        value alpha(f32) => alpha;
        /// True: adds to da and db.
        value accumulate(bool) => accumulate;
        /// For operands of f32.
        value precision(MatmulPrecision) => precision;
        /// `workspace_bytes`, at a multiple of 16 bytes; more of it lets K be split.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_matmul_backward_options> {
        Ok(sys::kaio_matmul_backward_options {
            alpha: self.alpha,
            accumulate: i32::from(self.accumulate),
            precision: self.precision as i32,
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for MatmulBackwardOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of matmul_grouped.
#[derive(Clone, Debug)]
pub struct MatmulGroupedOptions<'a> {
    rows: Option<TensorView<'a>>,
    bias: Option<TensorView<'a>>,
}

impl<'a> MatmulGroupedOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulGroupedOptions {
            rows: None,
            bias: None,
        }
    }

    setters! {
        /// (rows); i32; row r of c is of row rows\[r\] of a; an index that is no row of a counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => rows;
        /// (groups, n); f32; added to the sums.
        view bias(&TensorView<'a>) => bias;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_matmul_grouped_options> {
        Ok(sys::kaio_matmul_grouped_options {
            rows: hold.optional(&self.rows),
            bias: hold.optional(&self.bias),
            ..Default::default()
        })
    }
}

impl<'a> Default for MatmulGroupedOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of matmul_grouped_backward.
#[derive(Clone, Debug)]
pub struct MatmulGroupedBackwardOptions {
    accumulate: bool,
}

impl MatmulGroupedBackwardOptions {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        MatmulGroupedBackwardOptions {
            accumulate: false,
        }
    }

    setters! {
        /// True: adds to db.
        value accumulate(bool) => accumulate;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_matmul_grouped_backward_options> {
        Ok(sys::kaio_matmul_grouped_backward_options {
            accumulate: i32::from(self.accumulate),
            ..Default::default()
        })
    }
}

impl Default for MatmulGroupedBackwardOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of gate_up_grouped. gpt-oss has alpha 1.702, limit 7 and up_offset 1.
#[derive(Clone, Debug)]
pub struct GateUpGroupedOptions<'a> {
    activation: MatmulActivation,
    rows: Option<TensorView<'a>>,
    gate_bias: Option<TensorView<'a>>,
    up_bias: Option<TensorView<'a>>,
    alpha: f32,
    limit: f32,
    up_offset: f32,
}

impl<'a> GateUpGroupedOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        GateUpGroupedOptions {
            activation: MatmulActivation::Silu,
            rows: None,
            gate_bias: None,
            up_bias: None,
            alpha: 1.0,
            limit: 0.0,
            up_offset: 0.0,
        }
    }

    setters! {
        /// Not none.
        value activation(MatmulActivation) => activation;
        /// (rows); i32; row r of y is of row rows\[r\] of x; an index that is no row of x counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => rows;
        /// (groups, n); f32.
        view gate_bias(&TensorView<'a>) => gate_bias;
        /// (groups, n); f32.
        view up_bias(&TensorView<'a>) => up_bias;
        /// Silu is x / (1 + exp(-alpha x)); above 0; default 1.0.
        value alpha(f32) => alpha;
        /// The gate is at most limit, up is from -limit to limit; 0: none.
        value limit(f32) => limit;
        /// Added to up.
        value up_offset(f32) => up_offset;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_gate_up_grouped_options> {
        Ok(sys::kaio_gate_up_grouped_options {
            activation: self.activation as i32,
            rows: hold.optional(&self.rows),
            gate_bias: hold.optional(&self.gate_bias),
            up_bias: hold.optional(&self.up_bias),
            alpha: self.alpha,
            limit: self.limit,
            up_offset: self.up_offset,
            ..Default::default()
        })
    }
}

impl<'a> Default for GateUpGroupedOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// C = activation(alpha * A * B + beta * C + bias) + residual.
///
/// Sums are f32, and are rounded once. Equal calls give equal bits. An operand without a batch, or with a
/// batch of stride 0 or extent 1, is used for every product of the batch.
///
/// In A, in B and in C one of the last two strides is 1. So each may be transposed, or a part of a larger
/// matrix.
///
/// # Arguments
///
/// - `a`: (m, k) or (batch, m, k); f32, f16, bf16, e4m3 or e5m2.
/// - `b`: (k, n) or (batch, k, n); elements of a.
/// - `c`: written; (m, n) or (batch, m, n); f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`Matmul`].
pub fn matmul<'a>(a: &TensorView<'a>, b: &TensorView<'a>, c: &TensorViewMut<'a>) -> Matmul<'a> {
    Matmul {
        a: *a,
        b: *b,
        c: **c,
        options: MatmulOptions::new(),
    }
}

/// The operation `matmul`: see the function [`matmul`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Matmul<'a> {
    a: TensorView<'a>,
    b: TensorView<'a>,
    c: TensorView<'a>,
    options: MatmulOptions<'a>,
}

impl<'a> Matmul<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// 0: A and B are not read; default 1.0.
        value alpha(f32) => options.alpha;
        /// 0: C is not read.
        value beta(f32) => options.beta;
        /// The activation function of a product.
        value activation(MatmulActivation) => options.activation;
        /// For operands of f32.
        value precision(MatmulPrecision) => options.precision;
        /// a, b.
        value constant(ConstantInputs) => options.constant;
        /// True: bias has a number for each row of C.
        value bias_of_rows(bool) => options.bias_of_rows;
        /// (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16.
        view bias(&TensorView<'a>) => options.bias;
        /// (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself.
        view residual(&TensorView<'a>) => options.residual;
        /// `workspace_bytes`; without it, K is not split.
        written workspace(&TensorViewMut<'a>) => options.workspace;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul(stream.handle(), hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_warmup(hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that make the call as fast as it can be; 0 if it needs none.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_matmul_workspace_bytes(hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?), &mut bytes))?;
        Ok(bytes)
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_matmul_choice(hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_matmul(hold.tensor(&self.a), hold.tensor(&self.b), hold.tensor(&self.c),
            hold.keep(self.options.raw(&hold)?), hold.keep(how.raw(&hold)?), &mut raw))?;
        TuneReport::from_raw(&raw)
    }
}

/// C\[i\] = activation(alpha * A\[i\] * B\[i\] + beta * C\[i\] + bias) + residual for matrices anywhere in
/// memory.
///
/// Each product has a shape of its own. Outputs share memory with nothing. Bias and residual are used by
/// every product. Products that are equally far apart in memory become one launch.
///
/// # Arguments
///
/// - `a`: (m, k) each; f32, f16, bf16, e4m3 or e5m2.
/// - `b`: (k, n) each; elements of a.
/// - `c`: written; (m, n) each; f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`MatmulBatch`].
pub fn matmul_batch<'a>(
    a: &[TensorView<'a>],
    b: &[TensorView<'a>],
    c: &[TensorViewMut<'a>],
) -> MatmulBatch<'a> {
    MatmulBatch {
        a: a.to_vec(),
        b: b.to_vec(),
        c: c.iter().map(|view| **view).collect(),
        options: MatmulOptions::new(),
    }
}

/// The operation `matmul_batch`: see the function [`matmul_batch`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulBatch<'a> {
    a: Vec<TensorView<'a>>,
    b: Vec<TensorView<'a>>,
    c: Vec<TensorView<'a>>,
    options: MatmulOptions<'a>,
}

impl<'a> MatmulBatch<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// 0: A and B are not read; default 1.0.
        value alpha(f32) => options.alpha;
        /// 0: C is not read.
        value beta(f32) => options.beta;
        /// The activation function of a product.
        value activation(MatmulActivation) => options.activation;
        /// For operands of f32.
        value precision(MatmulPrecision) => options.precision;
        /// a, b.
        value constant(ConstantInputs) => options.constant;
        /// True: bias has a number for each row of C.
        value bias_of_rows(bool) => options.bias_of_rows;
        /// (n) or (batch, n); (m) or (batch, m) with bias_of_rows; f32, f16 or bf16.
        view bias(&TensorView<'a>) => options.bias;
        /// (m, n) or (batch, m, n); f32, f16 or bf16; may be C itself.
        view residual(&TensorView<'a>) => options.residual;
        /// `workspace_bytes`; without it, K is not split.
        written workspace(&TensorViewMut<'a>) => options.workspace;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        let count = same_length("matmul_batch", &[("a", self.a.len()), ("b", self.b.len()), ("c", self.c.len())])?;
        call!(kaio_matmul_batch(stream.handle(), count, hold.tensors(&self.a), hold.tensors(&self.b),
            hold.tensors(&self.c), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        let count = same_length("matmul_batch", &[("a", self.a.len()), ("b", self.b.len()), ("c", self.c.len())])?;
        call!(kaio_matmul_batch_warmup(count, hold.tensors(&self.a), hold.tensors(&self.b),
            hold.tensors(&self.c), hold.keep(self.options.raw(&hold)?)))
    }
}

/// The gradients of C = alpha * A * B: dA = alpha * dC * B^T and dB = alpha * A^T * dC.
///
/// dc has the element type of A and B, or is f32 with operands of 16 bits. In the second case it is rounded
/// to their type once, into the workspace.
///
/// # Arguments
///
/// - `dc`: (m, n) or (batch, m, n); f32, f16 or bf16.
/// - `a`: (m, k) or (batch, m, k); f32, f16 or bf16.
/// - `b`: (k, n) or (batch, k, n); elements of a.
///
/// Nothing happens before `run`. Options are methods of [`MatmulBackward`].
pub fn matmul_backward<'a>(
    dc: &TensorView<'a>,
    a: &TensorView<'a>,
    b: &TensorView<'a>,
) -> MatmulBackward<'a> {
    MatmulBackward {
        dc: *dc,
        a: *a,
        b: *b,
        da: None,
        db: None,
        options: MatmulBackwardOptions::new(),
    }
}

/// The operation `matmul_backward`: see the function [`matmul_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulBackward<'a> {
    dc: TensorView<'a>,
    a: TensorView<'a>,
    b: TensorView<'a>,
    da: Option<TensorView<'a>>,
    db: Option<TensorView<'a>>,
    options: MatmulBackwardOptions<'a>,
}

impl<'a> MatmulBackward<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulBackwardOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// As a; f32, f16 or bf16; none: not computed.
        written da(&TensorViewMut<'a>) => da;
        /// As b; f32, f16 or bf16; none: not computed.
        written db(&TensorViewMut<'a>) => db;
        /// Alpha of the product that is differentiated; default 1.0.
        value alpha(f32) => options.alpha;
        /// True: adds to da and db.
        value accumulate(bool) => options.accumulate;
        /// For operands of f32.
        value precision(MatmulPrecision) => options.precision;
        /// `workspace_bytes`, at a multiple of 16 bytes; more of it lets K be split.
        written workspace(&TensorViewMut<'a>) => options.workspace;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_backward(stream.handle(), hold.tensor(&self.dc), hold.tensor(&self.a),
            hold.tensor(&self.b), hold.optional(&self.da), hold.optional(&self.db),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_backward_warmup(hold.tensor(&self.dc), hold.tensor(&self.a), hold.tensor(&self.b),
            hold.optional(&self.da), hold.optional(&self.db), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace; 0 if dc has the element type of a.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_matmul_backward_workspace_bytes(hold.tensor(&self.dc), hold.tensor(&self.a), &mut bytes))?;
        Ok(bytes)
    }
}

/// c\[r, :\] = a\[r, :\] * b\[g\] for the group g with offsets\[g\] \<= r \< offsets\[g + 1\]: the experts
/// of a mixture.
///
/// The offsets are read on the device alone. Rows of no group are not written. Sums are f32, and are
/// rounded once. Equal calls give equal bits.
///
/// # Arguments
///
/// - `a`: (rows, k); f16 or bf16; with options.rows it has any number of rows.
/// - `b`: (groups, k, n); elements of a; any strides: weights (groups, n, k) with the last two exchanged.
/// - `offsets`: (groups + 1); i32; not decreasing.
/// - `c`: written; (rows, n); f32, f16 or bf16; the type of a, or f32.
///
/// Nothing happens before `run`. Options are methods of [`MatmulGrouped`].
pub fn matmul_grouped<'a>(
    a: &TensorView<'a>,
    b: &TensorView<'a>,
    offsets: &TensorView<'a>,
    c: &TensorViewMut<'a>,
) -> MatmulGrouped<'a> {
    MatmulGrouped {
        a: *a,
        b: *b,
        offsets: *offsets,
        c: **c,
        options: MatmulGroupedOptions::new(),
    }
}

/// The operation `matmul_grouped`: see the function [`matmul_grouped`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulGrouped<'a> {
    a: TensorView<'a>,
    b: TensorView<'a>,
    offsets: TensorView<'a>,
    c: TensorView<'a>,
    options: MatmulGroupedOptions<'a>,
}

impl<'a> MatmulGrouped<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulGroupedOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (rows); i32; row r of c is of row rows\[r\] of a; an index that is no row of a counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => options.rows;
        /// (groups, n); f32; added to the sums.
        view bias(&TensorView<'a>) => options.bias;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_grouped(stream.handle(), hold.tensor(&self.a), hold.tensor(&self.b),
            hold.tensor(&self.offsets), hold.tensor(&self.c), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_grouped_warmup(hold.tensor(&self.a), hold.tensor(&self.b),
            hold.tensor(&self.offsets), hold.tensor(&self.c), hold.keep(self.options.raw(&hold)?)))
    }
}

/// The gradients of matmul_grouped: da\[r, :\] = dc\[r, :\] * b\[g\]^T, db\[g\] = a\[rows of g, :\]^T *
/// dc\[rows of g, :\].
///
/// A group without rows has a db of zeros. Rows of no group have no da. Sums are f32, and are rounded once.
/// Equal calls give equal bits.
///
/// # Arguments
///
/// - `dc`: (rows, n); f16 or bf16.
/// - `a`: (rows, k); elements of dc; gathered, if the product gathered its rows.
/// - `b`: (groups, k, n); elements of dc; any strides.
/// - `offsets`: (groups + 1); i32; not decreasing.
///
/// Nothing happens before `run`. Options are methods of [`MatmulGroupedBackward`].
pub fn matmul_grouped_backward<'a>(
    dc: &TensorView<'a>,
    a: &TensorView<'a>,
    b: &TensorView<'a>,
    offsets: &TensorView<'a>,
) -> MatmulGroupedBackward<'a> {
    MatmulGroupedBackward {
        dc: *dc,
        a: *a,
        b: *b,
        offsets: *offsets,
        da: None,
        db: None,
        options: MatmulGroupedBackwardOptions::new(),
    }
}

/// The operation `matmul_grouped_backward`: see the function [`matmul_grouped_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MatmulGroupedBackward<'a> {
    dc: TensorView<'a>,
    a: TensorView<'a>,
    b: TensorView<'a>,
    offsets: TensorView<'a>,
    da: Option<TensorView<'a>>,
    db: Option<TensorView<'a>>,
    options: MatmulGroupedBackwardOptions,
}

impl<'a> MatmulGroupedBackward<'a> {
    /// All options at once.
    pub fn options(mut self, options: &MatmulGroupedBackwardOptions) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (rows, k); f32, f16 or bf16; the type of dc, or f32; none: not computed.
        written da(&TensorViewMut<'a>) => da;
        /// (groups, k, n); f32, f16 or bf16; the type of dc, or f32; any strides; none: not computed.
        written db(&TensorViewMut<'a>) => db;
        /// True: adds to db.
        value accumulate(bool) => options.accumulate;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_grouped_backward(stream.handle(), hold.tensor(&self.dc), hold.tensor(&self.a),
            hold.tensor(&self.b), hold.tensor(&self.offsets), hold.optional(&self.da),
            hold.optional(&self.db), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_matmul_grouped_backward_warmup(hold.tensor(&self.dc), hold.tensor(&self.a),
            hold.tensor(&self.b), hold.tensor(&self.offsets), hold.optional(&self.da),
            hold.optional(&self.db), hold.keep(self.options.raw(&hold)?)))
    }
}

/// y\[r, :\] = activation(min(g, limit)) * (clamp(u, -limit, limit) + up_offset) with g = x\[r, :\] *
/// gate\[e\], u = x\[r, :\] * up\[e\] for the group e with offsets\[e\] \<= r \< offsets\[e + 1\].
///
/// The offsets are read on the device alone. Rows of no group are not written. Sums are f32; results are
/// rounded once. Gate and up may be parts of one tensor.
///
/// # Arguments
///
/// - `x`: (rows, k); f16 or bf16.
/// - `gate`: (groups, k, n); elements of x; any strides: weights (groups, n, k) with the last two
///   exchanged.
/// - `up`: (groups, k, n); elements of x.
/// - `offsets`: (groups + 1); i32; not decreasing.
/// - `y`: written; (rows, n); f32, f16 or bf16; the type of x, or f32.
///
/// Nothing happens before `run`. Options are methods of [`GateUpGrouped`].
pub fn gate_up_grouped<'a>(
    x: &TensorView<'a>,
    gate: &TensorView<'a>,
    up: &TensorView<'a>,
    offsets: &TensorView<'a>,
    y: &TensorViewMut<'a>,
) -> GateUpGrouped<'a> {
    GateUpGrouped {
        x: *x,
        gate: *gate,
        up: *up,
        offsets: *offsets,
        y: **y,
        options: GateUpGroupedOptions::new(),
    }
}

/// The operation `gate_up_grouped`: see the function [`gate_up_grouped`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct GateUpGrouped<'a> {
    x: TensorView<'a>,
    gate: TensorView<'a>,
    up: TensorView<'a>,
    offsets: TensorView<'a>,
    y: TensorView<'a>,
    options: GateUpGroupedOptions<'a>,
}

impl<'a> GateUpGrouped<'a> {
    /// All options at once.
    pub fn options(mut self, options: &GateUpGroupedOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Not none.
        value activation(MatmulActivation) => options.activation;
        /// (rows); i32; row r of y is of row rows\[r\] of x; an index that is no row of x counts as a row
        /// of zeros.
        view rows(&TensorView<'a>) => options.rows;
        /// (groups, n); f32.
        view gate_bias(&TensorView<'a>) => options.gate_bias;
        /// (groups, n); f32.
        view up_bias(&TensorView<'a>) => options.up_bias;
        /// Silu is x / (1 + exp(-alpha x)); above 0; default 1.0.
        value alpha(f32) => options.alpha;
        /// The gate is at most limit, up is from -limit to limit; 0: none.
        value limit(f32) => options.limit;
        /// Added to up.
        value up_offset(f32) => options.up_offset;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gate_up_grouped(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.gate),
            hold.tensor(&self.up), hold.tensor(&self.offsets), hold.tensor(&self.y),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gate_up_grouped_warmup(hold.tensor(&self.x), hold.tensor(&self.gate),
            hold.tensor(&self.up), hold.tensor(&self.offsets), hold.tensor(&self.y),
            hold.keep(self.options.raw(&hold)?)))
    }
}
