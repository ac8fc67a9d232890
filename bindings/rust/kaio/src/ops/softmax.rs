// Made by bindings/rust/generate.py from src/c/operations/softmax.json.
//! Softmax.

use super::*;
use crate::call::*;

/// Options of softmax and log_softmax.
#[derive(Clone, Debug)]
pub struct SoftmaxOptions<'a> {
    scale: f32,
    lse: Option<TensorView<'a>>,
}

impl<'a> SoftmaxOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        SoftmaxOptions {
            scale: 1.0,
            lse: None,
        }
    }

    setters! {
        /// x is multiplied by it; finite; default 1.0.
        value scale(f32) => scale;
        /// (...), one for each row; f32; gets the logarithms of the sums of exponentials.
        written lse(&TensorViewMut<'a>) => lse;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_softmax_options> {
        Ok(sys::kaio_softmax_options {
            scale: self.scale,
            lse: hold.optional(&self.lse),
            ..Default::default()
        })
    }
}

impl<'a> Default for SoftmaxOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of the gradients of softmax and log_softmax.
#[derive(Clone, Debug)]
pub struct SoftmaxBackwardOptions {
    scale: f32,
}

impl SoftmaxBackwardOptions {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        SoftmaxBackwardOptions {
            scale: 1.0,
        }
    }

    setters! {
        /// That of the forward call; default 1.0.
        value scale(f32) => scale;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_softmax_backward_options> {
        Ok(sys::kaio_softmax_backward_options {
            scale: self.scale,
            ..Default::default()
        })
    }
}

impl Default for SoftmaxBackwardOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// y = e^v / sum of e^v along the last dimension, with v = scale * x.
///
/// In f32, rounded once. A row of -infinity becomes 0. Rows have any strides, their elements are
/// neighbours.
///
/// # Arguments
///
/// - `x`: (..., size); f32, f16 or bf16.
/// - `y`: written; as x; elements of x; may be x itself.
///
/// Nothing happens before `run`. Options are methods of [`Softmax`].
pub fn softmax<'a>(x: &TensorView<'a>, y: &TensorViewMut<'a>) -> Softmax<'a> {
    Softmax {
        x: *x,
        y: **y,
        options: SoftmaxOptions::new(),
    }
}

/// The operation `softmax`: see the function [`softmax`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Softmax<'a> {
    x: TensorView<'a>,
    y: TensorView<'a>,
    options: SoftmaxOptions<'a>,
}

impl<'a> Softmax<'a> {
    /// All options at once.
    pub fn options(mut self, options: &SoftmaxOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// x is multiplied by it; finite; default 1.0.
        value scale(f32) => options.scale;
        /// (...), one for each row; f32; gets the logarithms of the sums of exponentials.
        written lse(&TensorViewMut<'a>) => options.lse;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_softmax(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.y),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_softmax_warmup(hold.tensor(&self.x), hold.tensor(&self.y),
            hold.keep(self.options.raw(&hold)?)))
    }
}

/// y = v - log(sum of e^v) along the last dimension, with v = scale * x.
///
/// In f32, rounded once. A row of -infinity stays as it is.
///
/// # Arguments
///
/// - `x`: (..., size); f32, f16 or bf16.
/// - `y`: written; as x; elements of x; may be x itself.
///
/// Nothing happens before `run`. Options are methods of [`LogSoftmax`].
pub fn log_softmax<'a>(x: &TensorView<'a>, y: &TensorViewMut<'a>) -> LogSoftmax<'a> {
    LogSoftmax {
        x: *x,
        y: **y,
        options: SoftmaxOptions::new(),
    }
}

/// The operation `log_softmax`: see the function [`log_softmax`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct LogSoftmax<'a> {
    x: TensorView<'a>,
    y: TensorView<'a>,
    options: SoftmaxOptions<'a>,
}

impl<'a> LogSoftmax<'a> {
    /// All options at once.
    pub fn options(mut self, options: &SoftmaxOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// x is multiplied by it; finite; default 1.0.
        value scale(f32) => options.scale;
        /// (...), one for each row; f32; gets the logarithms of the sums of exponentials.
        written lse(&TensorViewMut<'a>) => options.lse;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_log_softmax(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.y),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_log_softmax_warmup(hold.tensor(&self.x), hold.tensor(&self.y),
            hold.keep(self.options.raw(&hold)?)))
    }
}

/// dx = scale * y * (dy - sum of y * dy), the gradient of softmax.
///
/// # Arguments
///
/// - `y`: (..., size); f32, f16 or bf16; the output of softmax.
/// - `dy`: As y; elements of y.
/// - `dx`: written; as y; elements of y; may be y or dy itself.
///
/// Nothing happens before `run`. Options are methods of [`SoftmaxBackward`].
pub fn softmax_backward<'a>(
    y: &TensorView<'a>,
    dy: &TensorView<'a>,
    dx: &TensorViewMut<'a>,
) -> SoftmaxBackward<'a> {
    SoftmaxBackward {
        y: *y,
        dy: *dy,
        dx: **dx,
        options: SoftmaxBackwardOptions::new(),
    }
}

/// The operation `softmax_backward`: see the function [`softmax_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct SoftmaxBackward<'a> {
    y: TensorView<'a>,
    dy: TensorView<'a>,
    dx: TensorView<'a>,
    options: SoftmaxBackwardOptions,
}

impl<'a> SoftmaxBackward<'a> {
    /// All options at once.
    pub fn options(mut self, options: &SoftmaxBackwardOptions) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// That of the forward call; default 1.0.
        value scale(f32) => options.scale;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_softmax_backward(stream.handle(), hold.tensor(&self.y), hold.tensor(&self.dy),
            hold.tensor(&self.dx), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_softmax_backward_warmup(hold.tensor(&self.y), hold.tensor(&self.dy), hold.tensor(&self.dx),
            hold.keep(self.options.raw(&hold)?)))
    }
}

/// dx = scale * (dy - e^y * sum of dy), the gradient of log_softmax.
///
/// # Arguments
///
/// - `y`: (..., size); f32, f16 or bf16; the output of log_softmax.
/// - `dy`: As y; elements of y.
/// - `dx`: written; as y; elements of y; may be y or dy itself.
///
/// Nothing happens before `run`. Options are methods of [`LogSoftmaxBackward`].
pub fn log_softmax_backward<'a>(
    y: &TensorView<'a>,
    dy: &TensorView<'a>,
    dx: &TensorViewMut<'a>,
) -> LogSoftmaxBackward<'a> {
    LogSoftmaxBackward {
        y: *y,
        dy: *dy,
        dx: **dx,
        options: SoftmaxBackwardOptions::new(),
    }
}

/// The operation `log_softmax_backward`: see the function [`log_softmax_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct LogSoftmaxBackward<'a> {
    y: TensorView<'a>,
    dy: TensorView<'a>,
    dx: TensorView<'a>,
    options: SoftmaxBackwardOptions,
}

impl<'a> LogSoftmaxBackward<'a> {
    /// All options at once.
    pub fn options(mut self, options: &SoftmaxBackwardOptions) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// That of the forward call; default 1.0.
        value scale(f32) => options.scale;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_log_softmax_backward(stream.handle(), hold.tensor(&self.y), hold.tensor(&self.dy),
            hold.tensor(&self.dx), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_log_softmax_backward_warmup(hold.tensor(&self.y), hold.tensor(&self.dy),
            hold.tensor(&self.dx), hold.keep(self.options.raw(&hold)?)))
    }
}
