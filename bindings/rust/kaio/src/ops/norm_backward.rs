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

    /// Epsilon; default 1e-06.
    pub fn epsilon(mut self, epsilon: f32) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Added to the weight: 1 for Gemma.
    pub fn weight_offset(mut self, weight_offset: f32) -> Self {
        self.weight_offset = weight_offset;
        self
    }

    /// As x; f32, f16 or bf16; added to dx; may be dx itself.
    pub fn dh(mut self, dh: &TensorView<'a>) -> Self {
        self.dh = Some(*dh);
        self
    }

    /// Needed for dweight and dbias: `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.workspace = Some(**workspace);
        self
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

    /// Epsilon; default 1e-05.
    pub fn epsilon(mut self, epsilon: f32) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Added to the weight: 1 for Gemma.
    pub fn weight_offset(mut self, weight_offset: f32) -> Self {
        self.weight_offset = weight_offset;
        self
    }

    /// As x; f32, f16 or bf16; added to dx; may be dx itself.
    pub fn dh(mut self, dh: &TensorView<'a>) -> Self {
        self.dh = Some(*dh);
        self
    }

    /// Needed for dweight and dbias: `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.workspace = Some(**workspace);
        self
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
/// - `dx`: written; As x; elements of x.
///
/// Nothing happens before `run`. Options are methods of [`RmsNormBackward`].
pub fn rms_norm_backward<'a>(x: &TensorView<'a>, dy: &TensorView<'a>, dx: &TensorViewMut<'a>) -> RmsNormBackward<'a> {
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
    /// (size); f32, f16 or bf16; f32, or elements of x; none: a factor of 1.
    pub fn weight(mut self, weight: &TensorView<'a>) -> Self {
        self.weight = Some(*weight);
        self
    }

    /// (size); f32, f16 or bf16; f32, or elements of x; none: not computed.
    pub fn dweight(mut self, dweight: &TensorViewMut<'a>) -> Self {
        self.dweight = Some(**dweight);
        self
    }

    /// All options at once.
    pub fn options(mut self, options: &RmsNormBackwardOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    /// Epsilon; default 1e-06.
    pub fn epsilon(mut self, epsilon: f32) -> Self {
        self.options.epsilon = epsilon;
        self
    }

    /// Added to the weight: 1 for Gemma.
    pub fn weight_offset(mut self, weight_offset: f32) -> Self {
        self.options.weight_offset = weight_offset;
        self
    }

    /// As x; f32, f16 or bf16; added to dx; may be dx itself.
    pub fn dh(mut self, dh: &TensorView<'a>) -> Self {
        self.options.dh = Some(*dh);
        self
    }

    /// Needed for dweight and dbias: `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.options.workspace = Some(**workspace);
        self
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_rms_norm_backward)(
                stream.handle(),
                hold.tensor(&self.x),
                hold.optional(&self.weight),
                hold.tensor(&self.dy),
                hold.tensor(&self.dx),
                hold.optional(&self.dweight),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_rms_norm_backward_warmup)(
                hold.tensor(&self.x),
                hold.optional(&self.weight),
                hold.tensor(&self.dy),
                hold.tensor(&self.dx),
                hold.optional(&self.dweight),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// The bytes of workspace that a call takes, whatever its options are.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut bytes = 0;
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_rms_norm_backward_workspace_bytes)(
                hold.tensor(&self.x),
                &mut bytes,
            )
        };
        check(functions, status)?;
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
/// - `dx`: written; As x; elements of x.
///
/// Nothing happens before `run`. Options are methods of [`LayerNormBackward`].
pub fn layer_norm_backward<'a>(x: &TensorView<'a>, dy: &TensorView<'a>, dx: &TensorViewMut<'a>) -> LayerNormBackward<'a> {
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
    /// (size); f32, f16 or bf16; f32, or elements of x; none: a factor of 1.
    pub fn weight(mut self, weight: &TensorView<'a>) -> Self {
        self.weight = Some(*weight);
        self
    }

    /// (size); f32, f16 or bf16; f32, or elements of x; none: not computed.
    pub fn dweight(mut self, dweight: &TensorViewMut<'a>) -> Self {
        self.dweight = Some(**dweight);
        self
    }

    /// (size); f32, f16 or bf16; f32, or elements of x; none: not computed.
    pub fn dbias(mut self, dbias: &TensorViewMut<'a>) -> Self {
        self.dbias = Some(**dbias);
        self
    }

    /// All options at once.
    pub fn options(mut self, options: &LayerNormBackwardOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    /// Epsilon; default 1e-05.
    pub fn epsilon(mut self, epsilon: f32) -> Self {
        self.options.epsilon = epsilon;
        self
    }

    /// Added to the weight: 1 for Gemma.
    pub fn weight_offset(mut self, weight_offset: f32) -> Self {
        self.options.weight_offset = weight_offset;
        self
    }

    /// As x; f32, f16 or bf16; added to dx; may be dx itself.
    pub fn dh(mut self, dh: &TensorView<'a>) -> Self {
        self.options.dh = Some(*dh);
        self
    }

    /// Needed for dweight and dbias: `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.options.workspace = Some(**workspace);
        self
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_layer_norm_backward)(
                stream.handle(),
                hold.tensor(&self.x),
                hold.optional(&self.weight),
                hold.tensor(&self.dy),
                hold.tensor(&self.dx),
                hold.optional(&self.dweight),
                hold.optional(&self.dbias),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_layer_norm_backward_warmup)(
                hold.tensor(&self.x),
                hold.optional(&self.weight),
                hold.tensor(&self.dy),
                hold.tensor(&self.dx),
                hold.optional(&self.dweight),
                hold.optional(&self.dbias),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// The bytes of workspace that a call takes, whatever its options are.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut bytes = 0;
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_layer_norm_backward_workspace_bytes)(
                hold.tensor(&self.x),
                &mut bytes,
            )
        };
        check(functions, status)?;
        Ok(bytes)
    }
}
