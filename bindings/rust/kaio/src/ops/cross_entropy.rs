// Made by bindings/rust/generate.py from src/c/operations/cross_entropy.json.
//! Cross entropy of logits, and of a linear layer.

use super::*;
use crate::call::*;

/// What becomes of the losses of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum LossReduction {
    /// none.
    None = 0,
    /// sum.
    Sum = 1,
    /// Divided by the weights of the targets that are not ignored.
    Mean = 2,
}

impl LossReduction {
    pub(crate) fn from_raw(raw: i32) -> Result<LossReduction> {
        match raw {
            0 => Ok(LossReduction::None),
            1 => Ok(LossReduction::Sum),
            2 => Ok(LossReduction::Mean),
            other => Err(Error::internal(format!("kaio: {} is no LossReduction that this crate knows", other))),
        }
    }
}

/// Options of cross_entropy.
#[derive(Clone, Debug)]
pub struct CrossEntropyOptions<'a> {
    reduction: LossReduction,
    ignore_index: i64,
    label_smoothing: f32,
    z_loss: f32,
    softcap: f32,
    weights: Option<TensorView<'a>>,
    lse: Option<TensorView<'a>>,
    total_weight: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
}

impl<'a> CrossEntropyOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        CrossEntropyOptions {
            reduction: LossReduction::Mean,
            ignore_index: -100,
            label_smoothing: 0.0,
            z_loss: 0.0,
            softcap: 0.0,
            weights: None,
            lse: None,
            total_weight: None,
            workspace: None,
        }
    }

    setters! {
        /// What becomes of the losses of rows.
        value reduction(LossReduction) => reduction;
        /// Rows with this target count for nothing; default -100.
        value ignore_index(i64) => ignore_index;
        /// 0 to 1.
        value label_smoothing(f32) => label_smoothing;
        /// Its product with lse^2 is added to a row's loss.
        value z_loss(f32) => z_loss;
        /// Logits become softcap * tanh(x / softcap); 0: none.
        value softcap(f32) => softcap;
        /// (classes); f32.
        view weights(&TensorView<'a>) => weights;
        /// (rows); f32; gets the logarithms of the sums of exponentials.
        written lse(&TensorViewMut<'a>) => lse;
        /// (1); f32; gets what a mean is divided by.
        written total_weight(&TensorViewMut<'a>) => total_weight;
        /// `workspace_bytes`, at a multiple of 16 bytes; needed unless the reduction is none.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_cross_entropy_options> {
        Ok(sys::kaio_cross_entropy_options {
            reduction: self.reduction as i32,
            ignore_index: self.ignore_index,
            label_smoothing: self.label_smoothing,
            z_loss: self.z_loss,
            softcap: self.softcap,
            weights: hold.optional(&self.weights),
            lse: hold.optional(&self.lse),
            total_weight: hold.optional(&self.total_weight),
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for CrossEntropyOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of the gradient of cross_entropy: those of the forward call.
#[derive(Clone, Debug)]
pub struct CrossEntropyBackwardOptions<'a> {
    reduction: LossReduction,
    ignore_index: i64,
    label_smoothing: f32,
    z_loss: f32,
    softcap: f32,
    weights: Option<TensorView<'a>>,
    total_weight: Option<TensorView<'a>>,
}

impl<'a> CrossEntropyBackwardOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        CrossEntropyBackwardOptions {
            reduction: LossReduction::Mean,
            ignore_index: -100,
            label_smoothing: 0.0,
            z_loss: 0.0,
            softcap: 0.0,
            weights: None,
            total_weight: None,
        }
    }

    setters! {
        /// What becomes of the losses of rows.
        value reduction(LossReduction) => reduction;
        /// Ignore index; default -100.
        value ignore_index(i64) => ignore_index;
        /// Label smoothing.
        value label_smoothing(f32) => label_smoothing;
        /// z loss.
        value z_loss(f32) => z_loss;
        /// softcap.
        value softcap(f32) => softcap;
        /// (classes); f32.
        view weights(&TensorView<'a>) => weights;
        /// (1); f32; that of the forward call; a mean needs it.
        view total_weight(&TensorView<'a>) => total_weight;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_cross_entropy_backward_options> {
        Ok(sys::kaio_cross_entropy_backward_options {
            reduction: self.reduction as i32,
            ignore_index: self.ignore_index,
            label_smoothing: self.label_smoothing,
            z_loss: self.z_loss,
            softcap: self.softcap,
            weights: hold.optional(&self.weights),
            total_weight: hold.optional(&self.total_weight),
            ..Default::default()
        })
    }
}

impl<'a> Default for CrossEntropyBackwardOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of linear_cross_entropy.
#[derive(Clone, Debug)]
pub struct LinearCrossEntropyOptions<'a> {
    reduction: LossReduction,
    precision: MatmulPrecision,
    ignore_index: i64,
    logit_scale: f32,
    label_smoothing: f32,
    z_loss: f32,
    softcap: f32,
    bias: Option<TensorView<'a>>,
    weights: Option<TensorView<'a>>,
    lse: Option<TensorView<'a>>,
    total_weight: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
}

impl<'a> LinearCrossEntropyOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        LinearCrossEntropyOptions {
            reduction: LossReduction::Mean,
            precision: MatmulPrecision::Ieee,
            ignore_index: -100,
            logit_scale: 1.0,
            label_smoothing: 0.0,
            z_loss: 0.0,
            softcap: 0.0,
            bias: None,
            weights: None,
            lse: None,
            total_weight: None,
            workspace: None,
        }
    }

    setters! {
        /// What becomes of the losses of rows.
        value reduction(LossReduction) => reduction;
        /// How products of f32 are computed.
        value precision(MatmulPrecision) => precision;
        /// Rows with this target count for nothing; default -100.
        value ignore_index(i64) => ignore_index;
        /// Logits are logit_scale * x * weight^T + bias; default 1.0.
        value logit_scale(f32) => logit_scale;
        /// 0 to 1.
        value label_smoothing(f32) => label_smoothing;
        /// Its product with lse^2 is added to a row's loss.
        value z_loss(f32) => z_loss;
        /// Logits become softcap * tanh(logits / softcap); 0: none.
        value softcap(f32) => softcap;
        /// (classes); f32, f16 or bf16.
        view bias(&TensorView<'a>) => bias;
        /// (classes); f32; factors of the losses by target.
        view weights(&TensorView<'a>) => weights;
        /// (rows); f32; gets the logarithms of the sums of exponentials.
        written lse(&TensorViewMut<'a>) => lse;
        /// (1); f32; gets what a mean is divided by.
        written total_weight(&TensorViewMut<'a>) => total_weight;
        /// `workspace_bytes`, or less, at a multiple of 16 bytes; needed.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_linear_cross_entropy_options> {
        Ok(sys::kaio_linear_cross_entropy_options {
            reduction: self.reduction as i32,
            precision: self.precision as i32,
            ignore_index: self.ignore_index,
            logit_scale: self.logit_scale,
            label_smoothing: self.label_smoothing,
            z_loss: self.z_loss,
            softcap: self.softcap,
            bias: hold.optional(&self.bias),
            weights: hold.optional(&self.weights),
            lse: hold.optional(&self.lse),
            total_weight: hold.optional(&self.total_weight),
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for LinearCrossEntropyOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of the gradients of linear_cross_entropy: those of the forward call.
#[derive(Clone, Debug)]
pub struct LinearCrossEntropyBackwardOptions<'a> {
    reduction: LossReduction,
    precision: MatmulPrecision,
    ignore_index: i64,
    logit_scale: f32,
    label_smoothing: f32,
    z_loss: f32,
    softcap: f32,
    bias: Option<TensorView<'a>>,
    weights: Option<TensorView<'a>>,
    total_weight: Option<TensorView<'a>>,
    dbias: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
}

impl<'a> LinearCrossEntropyBackwardOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        LinearCrossEntropyBackwardOptions {
            reduction: LossReduction::Mean,
            precision: MatmulPrecision::Ieee,
            ignore_index: -100,
            logit_scale: 1.0,
            label_smoothing: 0.0,
            z_loss: 0.0,
            softcap: 0.0,
            bias: None,
            weights: None,
            total_weight: None,
            dbias: None,
            workspace: None,
        }
    }

    setters! {
        /// What becomes of the losses of rows.
        value reduction(LossReduction) => reduction;
        /// How products of f32 are computed.
        value precision(MatmulPrecision) => precision;
        /// Ignore index; default -100.
        value ignore_index(i64) => ignore_index;
        /// Logit scale; default 1.0.
        value logit_scale(f32) => logit_scale;
        /// Label smoothing.
        value label_smoothing(f32) => label_smoothing;
        /// z loss.
        value z_loss(f32) => z_loss;
        /// softcap.
        value softcap(f32) => softcap;
        /// (classes); f32, f16 or bf16.
        view bias(&TensorView<'a>) => bias;
        /// (classes); f32.
        view weights(&TensorView<'a>) => weights;
        /// (1); f32; that of the forward call; a mean needs it.
        view total_weight(&TensorView<'a>) => total_weight;
        /// (classes); f32, f16 or bf16; gets the gradient of the bias; the element type of x, or f32.
        written dbias(&TensorViewMut<'a>) => dbias;
        /// `workspace_bytes`, or less, at a multiple of 16 bytes; needed.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_linear_cross_entropy_backward_options> {
        Ok(sys::kaio_linear_cross_entropy_backward_options {
            reduction: self.reduction as i32,
            precision: self.precision as i32,
            ignore_index: self.ignore_index,
            logit_scale: self.logit_scale,
            label_smoothing: self.label_smoothing,
            z_loss: self.z_loss,
            softcap: self.softcap,
            bias: hold.optional(&self.bias),
            weights: hold.optional(&self.weights),
            total_weight: hold.optional(&self.total_weight),
            dbias: hold.optional(&self.dbias),
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for LinearCrossEntropyBackwardOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// The cross entropy of rows of logits with classes as targets.
///
/// The loss comes from the f32 lse. Ignored rows have the loss 0, and a target that is no class gives NaN.
///
/// # Arguments
///
/// - `logits`: (rows, classes); f32, f16 or bf16.
/// - `targets`: (rows); i64 or i32.
/// - `loss`: written; (rows), or (1) with a reduction; f32.
/// - `options`: Options of cross_entropy.
///
/// Nothing happens before `run`. Options are methods of [`CrossEntropy`].
pub fn cross_entropy<'a>(
    logits: &TensorView<'a>,
    targets: &TensorView<'a>,
    loss: &TensorViewMut<'a>,
    options: &CrossEntropyOptions<'a>,
) -> CrossEntropy<'a> {
    CrossEntropy {
        logits: *logits,
        targets: *targets,
        loss: **loss,
        options: options.clone(),
    }
}

/// The operation `cross_entropy`: see the function [`cross_entropy`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct CrossEntropy<'a> {
    logits: TensorView<'a>,
    targets: TensorView<'a>,
    loss: TensorView<'a>,
    options: CrossEntropyOptions<'a>,
}

impl<'a> CrossEntropy<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_cross_entropy(stream.handle(), hold.tensor(&self.logits), hold.tensor(&self.targets),
            hold.tensor(&self.loss), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_cross_entropy_warmup(hold.tensor(&self.logits), hold.tensor(&self.targets),
            hold.tensor(&self.loss), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the reductions sum and mean take.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_cross_entropy_workspace_bytes(hold.tensor(&self.logits), &mut bytes))?;
        Ok(bytes)
    }
}

/// The gradient of the logits of cross_entropy.
///
/// In f32, rounded once. Ignored rows become 0, those of a target that is no class NaN.
///
/// # Arguments
///
/// - `logits`: (rows, classes); f32, f16 or bf16.
/// - `targets`: (rows); i64 or i32.
/// - `lse`: (rows); f32; that of the forward call.
/// - `dloss`: (rows), or (1) with a reduction; f32; the gradient of the loss.
/// - `dlogits`: written; as logits; elements of logits; may be logits itself.
/// - `options`: Options of the gradient of cross_entropy: those of the forward call.
///
/// Nothing happens before `run`. Options are methods of [`CrossEntropyBackward`].
pub fn cross_entropy_backward<'a>(
    logits: &TensorView<'a>,
    targets: &TensorView<'a>,
    lse: &TensorView<'a>,
    dloss: &TensorView<'a>,
    dlogits: &TensorViewMut<'a>,
    options: &CrossEntropyBackwardOptions<'a>,
) -> CrossEntropyBackward<'a> {
    CrossEntropyBackward {
        logits: *logits,
        targets: *targets,
        lse: *lse,
        dloss: *dloss,
        dlogits: **dlogits,
        options: options.clone(),
    }
}

/// The operation `cross_entropy_backward`: see the function [`cross_entropy_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct CrossEntropyBackward<'a> {
    logits: TensorView<'a>,
    targets: TensorView<'a>,
    lse: TensorView<'a>,
    dloss: TensorView<'a>,
    dlogits: TensorView<'a>,
    options: CrossEntropyBackwardOptions<'a>,
}

impl<'a> CrossEntropyBackward<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_cross_entropy_backward(stream.handle(), hold.tensor(&self.logits),
            hold.tensor(&self.targets), hold.tensor(&self.lse), hold.tensor(&self.dloss),
            hold.tensor(&self.dlogits), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_cross_entropy_backward_warmup(hold.tensor(&self.logits), hold.tensor(&self.targets),
            hold.tensor(&self.lse), hold.tensor(&self.dloss), hold.tensor(&self.dlogits),
            hold.keep(self.options.raw(&hold)?)))
    }
}

/// The cross entropy of logits x * weight^T, which are never in memory as a whole.
///
/// Logits are f32. The loss, ignored rows and targets that are no class are as for cross_entropy.
///
/// # Arguments
///
/// - `x`: (rows, features); f32, f16 or bf16.
/// - `weight`: (classes, features); elements of x.
/// - `targets`: (rows); i64 or i32.
/// - `loss`: written; (rows), or (1) with a reduction; f32.
/// - `options`: Options of linear_cross_entropy.
///
/// Nothing happens before `run`. Options are methods of [`LinearCrossEntropy`].
pub fn linear_cross_entropy<'a>(
    x: &TensorView<'a>,
    weight: &TensorView<'a>,
    targets: &TensorView<'a>,
    loss: &TensorViewMut<'a>,
    options: &LinearCrossEntropyOptions<'a>,
) -> LinearCrossEntropy<'a> {
    LinearCrossEntropy {
        x: *x,
        weight: *weight,
        targets: *targets,
        loss: **loss,
        options: options.clone(),
    }
}

/// The operation `linear_cross_entropy`: see the function [`linear_cross_entropy`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct LinearCrossEntropy<'a> {
    x: TensorView<'a>,
    weight: TensorView<'a>,
    targets: TensorView<'a>,
    loss: TensorView<'a>,
    options: LinearCrossEntropyOptions<'a>,
}

impl<'a> LinearCrossEntropy<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_linear_cross_entropy(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.weight),
            hold.tensor(&self.targets), hold.tensor(&self.loss), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_linear_cross_entropy_warmup(hold.tensor(&self.x), hold.tensor(&self.weight),
            hold.tensor(&self.targets), hold.tensor(&self.loss), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace with which the call is fastest.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_linear_cross_entropy_workspace_bytes(hold.tensor(&self.x), hold.tensor(&self.weight), &mut
            bytes))?;
        Ok(bytes)
    }
}

/// The gradients of x, weight and bias of linear_cross_entropy.
///
/// The gradient of the logits is formed in f32 and rounded once to the element type of x; sums are f32.
/// Ignored rows add nothing.
///
/// # Arguments
///
/// - `x`: (rows, features); f32, f16 or bf16.
/// - `weight`: (classes, features); elements of x.
/// - `targets`: (rows); i64 or i32.
/// - `lse`: (rows); f32; that of the forward call.
/// - `dloss`: (rows), or (1) with a reduction; f32; the gradient of the loss.
/// - `options`: Options of the gradients of linear_cross_entropy: those of the forward call.
///
/// Nothing happens before `run`. Options are methods of [`LinearCrossEntropyBackward`].
pub fn linear_cross_entropy_backward<'a>(
    x: &TensorView<'a>,
    weight: &TensorView<'a>,
    targets: &TensorView<'a>,
    lse: &TensorView<'a>,
    dloss: &TensorView<'a>,
    options: &LinearCrossEntropyBackwardOptions<'a>,
) -> LinearCrossEntropyBackward<'a> {
    LinearCrossEntropyBackward {
        x: *x,
        weight: *weight,
        targets: *targets,
        lse: *lse,
        dloss: *dloss,
        options: options.clone(),
        dx: None,
        dweight: None,
    }
}

/// The operation `linear_cross_entropy_backward`: see the function [`linear_cross_entropy_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct LinearCrossEntropyBackward<'a> {
    x: TensorView<'a>,
    weight: TensorView<'a>,
    targets: TensorView<'a>,
    lse: TensorView<'a>,
    dloss: TensorView<'a>,
    options: LinearCrossEntropyBackwardOptions<'a>,
    dx: Option<TensorView<'a>>,
    dweight: Option<TensorView<'a>>,
}

impl<'a> LinearCrossEntropyBackward<'a> {
    setters! {
        /// As x; f32, f16 or bf16; the element type of x, or f32; none: not computed.
        written dx(&TensorViewMut<'a>) => dx;
        /// As weight; f32, f16 or bf16; the element type of x, or f32; none: not computed.
        written dweight(&TensorViewMut<'a>) => dweight;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_linear_cross_entropy_backward(stream.handle(), hold.tensor(&self.x),
            hold.tensor(&self.weight), hold.tensor(&self.targets), hold.tensor(&self.lse),
            hold.tensor(&self.dloss), hold.optional(&self.dx), hold.optional(&self.dweight),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_linear_cross_entropy_backward_warmup(hold.tensor(&self.x), hold.tensor(&self.weight),
            hold.tensor(&self.targets), hold.tensor(&self.lse), hold.tensor(&self.dloss),
            hold.optional(&self.dx), hold.optional(&self.dweight), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace with which the call is fastest.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_linear_cross_entropy_backward_workspace_bytes(hold.tensor(&self.x),
            hold.tensor(&self.weight), &mut bytes))?;
        Ok(bytes)
    }
}
