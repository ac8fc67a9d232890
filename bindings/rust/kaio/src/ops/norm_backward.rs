// Made by bindings/rust/generate.py from src/c/operations/norm_backward.json.
//! Gradients of norms.

use super::*;
use crate::call::*;

/// Options of rms_norm_backward.
#[derive(Clone, Debug)]
pub struct RmsNormBackwardOptions<'a> {
    epsilon: f32,
    weight_offset: f32,
    dh: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
}

impl<'a> RmsNormBackwardOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        RmsNormBackwardOptions {
            epsilon: 1e-06,
            weight_offset: 0.0,
            dh: None,
            workspace: None,
        }
    }

    setters! {
        /// Epsilon; default 1e-06.
        value epsilon(f32) => epsilon;
        /// Added to the weight: 1 for Gemma.
        value weight_offset(f32) => weight_offset;
        /// As x; f32, f16 or bf16; added to dx; may be dx itself.
        view dh(&TensorView<'a>) => dh;
        /// Needed for dweight and dbias: `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_rms_norm_backward_options> {
        Ok(sys::kaio_rms_norm_backward_options {
            epsilon: self.epsilon,
            weight_offset: self.weight_offset,
            dh: hold.optional(&self.dh),
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for RmsNormBackwardOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of layer_norm_backward.
#[derive(Clone, Debug)]
pub struct LayerNormBackwardOptions<'a> {
    epsilon: f32,
    weight_offset: f32,
    dh: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
}

impl<'a> LayerNormBackwardOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        LayerNormBackwardOptions {
            epsilon: 1e-05,
            weight_offset: 0.0,
            dh: None,
            workspace: None,
        }
    }

    setters! {
        /// Epsilon; default 1e-05.
        value epsilon(f32) => epsilon;
        /// Added to the weight: 1 for Gemma.
        value weight_offset(f32) => weight_offset;
        /// As x; f32, f16 or bf16; added to dx; may be dx itself.
        view dh(&TensorView<'a>) => dh;
        /// Needed for dweight and dbias: `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_layer_norm_backward_options> {
        Ok(sys::kaio_layer_norm_backward_options {
            epsilon: self.epsilon,
            weight_offset: self.weight_offset,
            dh: hold.optional(&self.dh),
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for LayerNormBackwardOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// The gradients of rms_norm: dx, and dweight if it is given.
///
/// x is what was normed: the sum, if a residual was added. Equal calls give equal bits. Outputs share
/// memory with no other argument, except dx with dh.
///
/// # Arguments
///
/// - `x`: (..., size); f32, f16 or bf16.
/// - `dy`: As x; elements of x.
/// - `dx`: written; as x; elements of x.
///
/// Nothing happens before `run`. Options are methods of [`RmsNormBackward`].
pub fn rms_norm_backward<'a>(
    x: &TensorView<'a>,
    dy: &TensorView<'a>,
    dx: &TensorViewMut<'a>,
) -> RmsNormBackward<'a> {
    RmsNormBackward {
        x: *x,
        dy: *dy,
        dx: **dx,
        weight: None,
        dweight: None,
        options: RmsNormBackwardOptions::new(),
    }
}

/// The operation `rms_norm_backward`: see the function [`rms_norm_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RmsNormBackward<'a> {
    x: TensorView<'a>,
    dy: TensorView<'a>,
    dx: TensorView<'a>,
    weight: Option<TensorView<'a>>,
    dweight: Option<TensorView<'a>>,
    options: RmsNormBackwardOptions<'a>,
}

impl<'a> RmsNormBackward<'a> {
    /// All options at once.
    pub fn options(mut self, options: &RmsNormBackwardOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (size); f32, f16 or bf16; f32, or elements of x; none: a factor of 1.
        view weight(&TensorView<'a>) => weight;
        /// (size); f32, f16 or bf16; f32, or elements of x; none: not computed.
        written dweight(&TensorViewMut<'a>) => dweight;
        /// Epsilon; default 1e-06.
        value epsilon(f32) => options.epsilon;
        /// Added to the weight: 1 for Gemma.
        value weight_offset(f32) => options.weight_offset;
        /// As x; f32, f16 or bf16; added to dx; may be dx itself.
        view dh(&TensorView<'a>) => options.dh;
        /// Needed for dweight and dbias: `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => options.workspace;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rms_norm_backward(stream.handle(), hold.tensor(&self.x), hold.optional(&self.weight),
            hold.tensor(&self.dy), hold.tensor(&self.dx), hold.optional(&self.dweight),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rms_norm_backward_warmup(hold.tensor(&self.x), hold.optional(&self.weight),
            hold.tensor(&self.dy), hold.tensor(&self.dx), hold.optional(&self.dweight),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that a call takes, whatever its options are.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_rms_norm_backward_workspace_bytes(hold.tensor(&self.x), &mut bytes))?;
        Ok(bytes)
    }
}

/// The gradients of layer_norm: dx, and dweight and dbias if they are given.
///
/// As rms_norm_backward.
///
/// # Arguments
///
/// - `x`: (..., size); f32, f16 or bf16.
/// - `dy`: As x; elements of x.
/// - `dx`: written; as x; elements of x.
///
/// Nothing happens before `run`. Options are methods of [`LayerNormBackward`].
pub fn layer_norm_backward<'a>(
    x: &TensorView<'a>,
    dy: &TensorView<'a>,
    dx: &TensorViewMut<'a>,
) -> LayerNormBackward<'a> {
    LayerNormBackward {
        x: *x,
        dy: *dy,
        dx: **dx,
        weight: None,
        dweight: None,
        dbias: None,
        options: LayerNormBackwardOptions::new(),
    }
}

/// The operation `layer_norm_backward`: see the function [`layer_norm_backward`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct LayerNormBackward<'a> {
    x: TensorView<'a>,
    dy: TensorView<'a>,
    dx: TensorView<'a>,
    weight: Option<TensorView<'a>>,
    dweight: Option<TensorView<'a>>,
    dbias: Option<TensorView<'a>>,
    options: LayerNormBackwardOptions<'a>,
}

impl<'a> LayerNormBackward<'a> {
    /// All options at once.
    pub fn options(mut self, options: &LayerNormBackwardOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (size); f32, f16 or bf16; f32, or elements of x; none: a factor of 1.
        view weight(&TensorView<'a>) => weight;
        /// (size); f32, f16 or bf16; f32, or elements of x; none: not computed.
        written dweight(&TensorViewMut<'a>) => dweight;
        /// (size); f32, f16 or bf16; f32, or elements of x; none: not computed.
        written dbias(&TensorViewMut<'a>) => dbias;
        /// Epsilon; default 1e-05.
        value epsilon(f32) => options.epsilon;
        /// Added to the weight: 1 for Gemma.
        value weight_offset(f32) => options.weight_offset;
        /// As x; f32, f16 or bf16; added to dx; may be dx itself.
        view dh(&TensorView<'a>) => options.dh;
        /// Needed for dweight and dbias: `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => options.workspace;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_layer_norm_backward(stream.handle(), hold.tensor(&self.x), hold.optional(&self.weight),
            hold.tensor(&self.dy), hold.tensor(&self.dx), hold.optional(&self.dweight),
            hold.optional(&self.dbias), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_layer_norm_backward_warmup(hold.tensor(&self.x), hold.optional(&self.weight),
            hold.tensor(&self.dy), hold.tensor(&self.dx), hold.optional(&self.dweight),
            hold.optional(&self.dbias), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that a call takes, whatever its options are.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_layer_norm_backward_workspace_bytes(hold.tensor(&self.x), &mut bytes))?;
        Ok(bytes)
    }
}
