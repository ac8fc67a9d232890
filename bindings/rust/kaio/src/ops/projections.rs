// Made by bindings/rust/generate.py from src/c/operations/projections.json.
//! Projections of a layer: Q, K and V, gate and up.

use super::*;
use crate::call::*;

/// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is
/// given by its strides.
#[derive(Clone, Debug)]
pub struct ProjectionWeight<'a> {
    matrix: Option<TensorView<'a>>,
    scale: Option<TensorView<'a>>,
    blocks: Option<TensorView<'a>>,
    w4: Option<W4Weights<'a>>,
    w8: Option<W8Weights<'a>>,
}

impl<'a> ProjectionWeight<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        ProjectionWeight {
            matrix: None,
            scale: None,
            blocks: None,
            w4: None,
            w8: None,
        }
    }

    setters! {
        /// (n, k); f32, f16, bf16, i8, e4m3 or e5m2; the element type of x; i8, e4m3 and e5m2 with scales.
        view matrix(&TensorView<'a>) => matrix;
        /// (n) or (1); f32; scales of a matrix of 8 bits; i8 needs them.
        view scale(&TensorView<'a>) => scale;
        /// (ceil(n / 128), ceil(k / 128)); f32; scales of e4m3 and e5m2, with x_groups.
        view blocks(&TensorView<'a>) => blocks;
        /// For x of f16 or bf16.
        record w4(&W4Weights<'a>) => w4;
        /// For x of f16 or bf16.
        record w8(&W8Weights<'a>) => w8;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_projection_weight> {
        Ok(sys::kaio_projection_weight {
            matrix: hold.optional(&self.matrix),
            scale: hold.optional(&self.scale),
            blocks: hold.optional(&self.blocks),
            w4: match &self.w4 { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            w8: match &self.w8 { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            ..Default::default()
        })
    }
}

impl<'a> Default for ProjectionWeight<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// The weights of Q, K and V: either `all`, with the outputs of Q first, then K's, then V's; or q, k and v.
#[derive(Clone, Debug)]
pub struct QkvWeights<'a> {
    all: Option<ProjectionWeight<'a>>,
    q: Option<ProjectionWeight<'a>>,
    k: Option<ProjectionWeight<'a>>,
    v: Option<ProjectionWeight<'a>>,
}

impl<'a> QkvWeights<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        QkvWeights {
            all: None,
            q: None,
            k: None,
            v: None,
        }
    }

    setters! {
        /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n)
        /// is given by its strides.
        record all(&ProjectionWeight<'a>) => all;
        /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n)
        /// is given by its strides.
        record q(&ProjectionWeight<'a>) => q;
        /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n)
        /// is given by its strides.
        record k(&ProjectionWeight<'a>) => k;
        /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n)
        /// is given by its strides.
        record v(&ProjectionWeight<'a>) => v;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_qkv_weights> {
        Ok(sys::kaio_qkv_weights {
            all: match &self.all { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            q: match &self.q { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            k: match &self.k { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            v: match &self.v { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            ..Default::default()
        })
    }
}

impl<'a> Default for QkvWeights<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// The weights of gate and up: either `both`, with the outputs of the gate first; or gate and up.
#[derive(Clone, Debug)]
pub struct GateUpWeights<'a> {
    both: Option<ProjectionWeight<'a>>,
    gate: Option<ProjectionWeight<'a>>,
    up: Option<ProjectionWeight<'a>>,
}

impl<'a> GateUpWeights<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        GateUpWeights {
            both: None,
            gate: None,
            up: None,
        }
    }

    setters! {
        /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n)
        /// is given by its strides.
        record both(&ProjectionWeight<'a>) => both;
        /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n)
        /// is given by its strides.
        record gate(&ProjectionWeight<'a>) => gate;
        /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n)
        /// is given by its strides.
        record up(&ProjectionWeight<'a>) => up;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_gate_up_weights> {
        Ok(sys::kaio_gate_up_weights {
            both: match &self.both { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            gate: match &self.gate { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            up: match &self.up { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            ..Default::default()
        })
    }
}

impl<'a> Default for GateUpWeights<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where the heads go: q, and either k and v, or a cache.
#[derive(Clone, Debug)]
pub struct QkvOutputs<'a> {
    q: Option<TensorView<'a>>,
    k: Option<TensorView<'a>>,
    v: Option<TensorView<'a>>,
    cache: Option<KvCache<'a>>,
}

impl<'a> QkvOutputs<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        QkvOutputs {
            q: None,
            k: None,
            v: None,
            cache: None,
        }
    }

    setters! {
        /// (tokens, heads, size) or (batches, tokens, heads, size); f16 or bf16; needed.
        written q(&TensorViewMut<'a>) => q;
        /// As q, with heads of its own; elements of q.
        written k(&TensorViewMut<'a>) => k;
        /// As k; the size may differ; elements of q.
        written v(&TensorViewMut<'a>) => v;
        /// Appended to, as append_kv does.
        record cache(&KvCache<'a>) => cache;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_qkv_outputs> {
        Ok(sys::kaio_qkv_outputs {
            q: hold.optional(&self.q),
            k: hold.optional(&self.k),
            v: hold.optional(&self.v),
            cache: match &self.cache { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            ..Default::default()
        })
    }
}

impl<'a> Default for QkvOutputs<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// RMS norm of x before the product: h = x + residual; x' = h / rms(h) * (weight_offset + weight).
#[derive(Clone, Debug)]
pub struct XNorm<'a> {
    epsilon: f32,
    weight_offset: f32,
    weight: TensorView<'a>,
    residual: Option<TensorView<'a>>,
    residual_out: Option<TensorView<'a>>,
}

impl<'a> XNorm<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `weight`: (k); f32, f16 or bf16; elements of x.
    pub fn new(weight: &TensorView<'a>) -> Self {
        XNorm {
            epsilon: 1e-06,
            weight_offset: 0.0,
            weight: *weight,
            residual: None,
            residual_out: None,
        }
    }

    setters! {
        /// Epsilon; default 1e-06.
        value epsilon(f32) => epsilon;
        /// 1 for Gemma.
        value weight_offset(f32) => weight_offset;
        /// As x; elements of weight; added to x.
        view residual(&TensorView<'a>) => residual;
        /// As x; elements of weight; gets h; may be the residual itself.
        written residual_out(&TensorViewMut<'a>) => residual_out;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_x_norm> {
        Ok(sys::kaio_x_norm {
            epsilon: self.epsilon,
            weight_offset: self.weight_offset,
            weight: hold.tensor(&self.weight),
            residual: hold.optional(&self.residual),
            residual_out: hold.optional(&self.residual_out),
            ..Default::default()
        })
    }
}

/// Rotates Q and K by the positions of their tokens, as rotary does. Without positions, a token is at the
/// number of its key less the left padding of its sequence; without a cache, at its number in the sequence
/// plus the offset.
#[derive(Clone, Debug)]
pub struct QkvRotary<'a> {
    interleaved: bool,
    cos: TensorView<'a>,
    sin: TensorView<'a>,
    positions: Option<TensorView<'a>>,
    offsets: Option<TensorView<'a>>,
}

impl<'a> QkvRotary<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `cos`: (positions, pairs); f32, f16 or bf16.
    /// - `sin`: As cos; elements of cos.
    pub fn new(cos: &TensorView<'a>, sin: &TensorView<'a>) -> Self {
        QkvRotary {
            interleaved: false,
            cos: *cos,
            sin: *sin,
            positions: None,
            offsets: None,
        }
    }

    setters! {
        /// True: pairs (0, 1), (2, 3), ..., as in GPT-J; false: (0, P), (1, P + 1), ..., as in Llama.
        value interleaved(bool) => interleaved;
        /// (tokens) or (batches, tokens); i32 or i64.
        view positions(&TensorView<'a>) => positions;
        /// (sequences); i32; only without a cache.
        view offsets(&TensorView<'a>) => offsets;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_qkv_rotary> {
        Ok(sys::kaio_qkv_rotary {
            interleaved: i32::from(self.interleaved),
            cos: hold.tensor(&self.cos),
            sin: hold.tensor(&self.sin),
            positions: hold.optional(&self.positions),
            offsets: hold.optional(&self.offsets),
            ..Default::default()
        })
    }
}

/// Options of qkv_project. Biases and norms have the element type of q.
#[derive(Clone, Debug)]
pub struct QkvProjectOptions<'a> {
    epsilon: f32,
    norm_offset: f32,
    q_scale: f32,
    constant: ConstantInputs,
    splits: u32,
    exact_weights: bool,
    q_bias: Option<TensorView<'a>>,
    k_bias: Option<TensorView<'a>>,
    v_bias: Option<TensorView<'a>>,
    q_norm: Option<TensorView<'a>>,
    k_norm: Option<TensorView<'a>>,
    x_norm: Option<XNorm<'a>>,
    rotary: Option<QkvRotary<'a>>,
    cu_seqlens: Option<TensorView<'a>>,
    slots: Option<TensorView<'a>>,
    k_scale: Option<TensorView<'a>>,
    v_scale: Option<TensorView<'a>>,
    k_scale_out: Option<TensorView<'a>>,
    v_scale_out: Option<TensorView<'a>>,
    x_scale: Option<TensorView<'a>>,
    x_groups: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
    variant: Option<String>,
}

impl<'a> QkvProjectOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        QkvProjectOptions {
            epsilon: 1e-06,
            norm_offset: 0.0,
            q_scale: 1.0,
            constant: ConstantInputs(0),
            splits: 0,
            exact_weights: false,
            q_bias: None,
            k_bias: None,
            v_bias: None,
            q_norm: None,
            k_norm: None,
            x_norm: None,
            rotary: None,
            cu_seqlens: None,
            slots: None,
            k_scale: None,
            v_scale: None,
            k_scale_out: None,
            v_scale_out: None,
            x_scale: None,
            x_groups: None,
            workspace: None,
            variant: None,
        }
    }

    setters! {
        /// Added to the mean square in q_norm and k_norm; default 1e-06.
        value epsilon(f32) => epsilon;
        /// Added to the weights of q_norm and k_norm: 1 for Gemma.
        value norm_offset(f32) => norm_offset;
        /// Multiplies Q at the end; default 1.0.
        value q_scale(f32) => q_scale;
        /// weights.
        value constant(ConstantInputs) => constant;
        /// Parts of K in kernels for few rows: 1, 2 or 4; 0: automatic.
        value splits(u32) => splits;
        /// True: packed weights are not rounded to the type of x.
        value exact_weights(bool) => exact_weights;
        /// (heads * size); f16 or bf16.
        view q_bias(&TensorView<'a>) => q_bias;
        /// (heads * size); f16 or bf16.
        view k_bias(&TensorView<'a>) => k_bias;
        /// (heads * size); f16 or bf16.
        view v_bias(&TensorView<'a>) => v_bias;
        /// (size); f16 or bf16; weight of the RMS norm of each head.
        view q_norm(&TensorView<'a>) => q_norm;
        /// (size); f16 or bf16; weight of the RMS norm of each head.
        view k_norm(&TensorView<'a>) => k_norm;
        /// None: x is multiplied as it is.
        record x_norm(&XNorm<'a>) => x_norm;
        /// None: no rotation.
        record rotary(&QkvRotary<'a>) => rotary;
        /// (sequences + 1); i32; for packed sequences: sequence b has tokens cu_seqlens\[b\] to before
        /// cu_seqlens\[b + 1\].
        view cu_seqlens(&TensorView<'a>) => cu_seqlens;
        /// (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each
        /// token, over all pages; below 0: skipped.
        view slots(&TensorView<'a>) => slots;
        /// (1), (heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits; none: 1.
        view k_scale(&TensorView<'a>) => k_scale;
        /// As k_scale; f32.
        view v_scale(&TensorView<'a>) => v_scale;
        /// (pages, rows, heads); f32; gets computed scales, one for each row of a head.
        written k_scale_out(&TensorViewMut<'a>) => k_scale_out;
        /// (pages, rows, heads); f32.
        written v_scale_out(&TensorViewMut<'a>) => v_scale_out;
        /// (rows) or (1); f32; scales of x of 8 bits.
        view x_scale(&TensorView<'a>) => x_scale;
        /// (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks.
        view x_groups(&TensorView<'a>) => x_groups;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
        /// The kernel to run, as `choice` names it; "separate": a product, and then the heads; none: the
        /// best one.
        text variant(&str) => variant;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_qkv_project_options> {
        Ok(sys::kaio_qkv_project_options {
            epsilon: self.epsilon,
            norm_offset: self.norm_offset,
            q_scale: self.q_scale,
            constant: self.constant.0,
            splits: self.splits,
            exact_weights: i32::from(self.exact_weights),
            q_bias: hold.optional(&self.q_bias),
            k_bias: hold.optional(&self.k_bias),
            v_bias: hold.optional(&self.v_bias),
            q_norm: hold.optional(&self.q_norm),
            k_norm: hold.optional(&self.k_norm),
            x_norm: match &self.x_norm { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            rotary: match &self.rotary { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            cu_seqlens: hold.optional(&self.cu_seqlens),
            slots: hold.optional(&self.slots),
            k_scale: hold.optional(&self.k_scale),
            v_scale: hold.optional(&self.v_scale),
            k_scale_out: hold.optional(&self.k_scale_out),
            v_scale_out: hold.optional(&self.v_scale_out),
            x_scale: hold.optional(&self.x_scale),
            x_groups: hold.optional(&self.x_groups),
            workspace: hold.optional(&self.workspace),
            variant: hold.text("variant", &self.variant)?,
            ..Default::default()
        })
    }
}

impl<'a> Default for QkvProjectOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of gate_up_project. Biases have the element type of out.
#[derive(Clone, Debug)]
pub struct GateUpProjectOptions<'a> {
    activation: MatmulActivation,
    constant: ConstantInputs,
    exact_weights: bool,
    gate_bias: Option<TensorView<'a>>,
    up_bias: Option<TensorView<'a>>,
    x_norm: Option<XNorm<'a>>,
    x_scale: Option<TensorView<'a>>,
    x_groups: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
    variant: Option<String>,
}

impl<'a> GateUpProjectOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        GateUpProjectOptions {
            activation: MatmulActivation::Silu,
            constant: ConstantInputs(0),
            exact_weights: false,
            gate_bias: None,
            up_bias: None,
            x_norm: None,
            x_scale: None,
            x_groups: None,
            workspace: None,
            variant: None,
        }
    }

    setters! {
        /// The activation function of a product.
        value activation(MatmulActivation) => activation;
        /// weights.
        value constant(ConstantInputs) => constant;
        /// True: packed weights are not rounded to the type of x.
        value exact_weights(bool) => exact_weights;
        /// (f); f32, f16 or bf16.
        view gate_bias(&TensorView<'a>) => gate_bias;
        /// (f); f32, f16 or bf16.
        view up_bias(&TensorView<'a>) => up_bias;
        /// None: x is multiplied as it is.
        record x_norm(&XNorm<'a>) => x_norm;
        /// (rows) or (1); f32; scales of x of 8 bits.
        view x_scale(&TensorView<'a>) => x_scale;
        /// (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks.
        view x_groups(&TensorView<'a>) => x_groups;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
        /// The kernel to run, as `choice` names it; "separate": products, and then the kernel that combines
        /// them; none: the best one.
        text variant(&str) => variant;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_gate_up_project_options> {
        Ok(sys::kaio_gate_up_project_options {
            activation: self.activation as i32,
            constant: self.constant.0,
            exact_weights: i32::from(self.exact_weights),
            gate_bias: hold.optional(&self.gate_bias),
            up_bias: hold.optional(&self.up_bias),
            x_norm: match &self.x_norm { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            x_scale: hold.optional(&self.x_scale),
            x_groups: hold.optional(&self.x_groups),
            workspace: hold.optional(&self.workspace),
            variant: hold.text("variant", &self.variant)?,
            ..Default::default()
        })
    }
}

impl<'a> Default for GateUpProjectOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Queries, keys and values of hidden states: norm, product, bias, norms of heads, rotation, and the append
/// to a cache.
///
/// Each step is in f32, and rounded to the element type of the outputs. Neighbours along k are adjacent.
/// Outputs, cache and workspace share no memory with anything else. Equal calls give equal bits.
///
/// # Arguments
///
/// - `x`: (tokens, k) or (batches, tokens, k); f16, bf16, i8, e4m3 or e5m2; the element type of q; or 8
///   bits, with such weights.
/// - `weights`: One, or three.
/// - `outputs`: Where the heads go.
///
/// Nothing happens before `run`. Options are methods of [`QkvProject`].
pub fn qkv_project<'a>(
    x: &TensorView<'a>,
    weights: &QkvWeights<'a>,
    outputs: &QkvOutputs<'a>,
) -> QkvProject<'a> {
    QkvProject {
        x: *x,
        weights: weights.clone(),
        outputs: outputs.clone(),
        options: QkvProjectOptions::new(),
    }
}

/// The operation `qkv_project`: see the function [`qkv_project`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct QkvProject<'a> {
    x: TensorView<'a>,
    weights: QkvWeights<'a>,
    outputs: QkvOutputs<'a>,
    options: QkvProjectOptions<'a>,
}

impl<'a> QkvProject<'a> {
    /// All options at once.
    pub fn options(mut self, options: &QkvProjectOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// Added to the mean square in q_norm and k_norm; default 1e-06.
        value epsilon(f32) => options.epsilon;
        /// Added to the weights of q_norm and k_norm: 1 for Gemma.
        value norm_offset(f32) => options.norm_offset;
        /// Multiplies Q at the end; default 1.0.
        value q_scale(f32) => options.q_scale;
        /// weights.
        value constant(ConstantInputs) => options.constant;
        /// Parts of K in kernels for few rows: 1, 2 or 4; 0: automatic.
        value splits(u32) => options.splits;
        /// True: packed weights are not rounded to the type of x.
        value exact_weights(bool) => options.exact_weights;
        /// (heads * size); f16 or bf16.
        view q_bias(&TensorView<'a>) => options.q_bias;
        /// (heads * size); f16 or bf16.
        view k_bias(&TensorView<'a>) => options.k_bias;
        /// (heads * size); f16 or bf16.
        view v_bias(&TensorView<'a>) => options.v_bias;
        /// (size); f16 or bf16; weight of the RMS norm of each head.
        view q_norm(&TensorView<'a>) => options.q_norm;
        /// (size); f16 or bf16; weight of the RMS norm of each head.
        view k_norm(&TensorView<'a>) => options.k_norm;
        /// None: x is multiplied as it is.
        record x_norm(&XNorm<'a>) => options.x_norm;
        /// None: no rotation.
        record rotary(&QkvRotary<'a>) => options.rotary;
        /// (sequences + 1); i32; for packed sequences: sequence b has tokens cu_seqlens\[b\] to before
        /// cu_seqlens\[b + 1\].
        view cu_seqlens(&TensorView<'a>) => options.cu_seqlens;
        /// (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each
        /// token, over all pages; below 0: skipped.
        view slots(&TensorView<'a>) => options.slots;
        /// (1), (heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits; none: 1.
        view k_scale(&TensorView<'a>) => options.k_scale;
        /// As k_scale; f32.
        view v_scale(&TensorView<'a>) => options.v_scale;
        /// (pages, rows, heads); f32; gets computed scales, one for each row of a head.
        written k_scale_out(&TensorViewMut<'a>) => options.k_scale_out;
        /// (pages, rows, heads); f32.
        written v_scale_out(&TensorViewMut<'a>) => options.v_scale_out;
        /// (rows) or (1); f32; scales of x of 8 bits.
        view x_scale(&TensorView<'a>) => options.x_scale;
        /// (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks.
        view x_groups(&TensorView<'a>) => options.x_groups;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => options.workspace;
        /// The kernel to run, as `choice` names it; "separate": a product, and then the heads; none: the
        /// best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_qkv_project(stream.handle(), hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.keep(self.outputs.raw(&hold)?), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_qkv_project_warmup(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.keep(self.outputs.raw(&hold)?), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call takes; 0 if it needs none.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_qkv_project_workspace_bytes(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.keep(self.outputs.raw(&hold)?), hold.keep(self.options.raw(&hold)?), &mut bytes))?;
        Ok(bytes)
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_qkv_project_choice(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.keep(self.outputs.raw(&hold)?), hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_qkv_project(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.keep(self.outputs.raw(&hold)?), hold.keep(self.options.raw(&hold)?),
            hold.keep(how.raw(&hold)?), &mut raw))?;
        TuneReport::from_raw(&raw)
    }
}

/// out = activation(x Wg^T + gate_bias) * (x Wu^T + up_bias), the first half of a gated feed-forward block.
///
/// Products are rounded once to the element type of out, and the result once more. Neighbours along the
/// last dimension are adjacent, and the batches of x follow each other. Equal calls give equal bits.
///
/// # Arguments
///
/// - `x`: (rows, k) or (batches, rows, k); f32, f16, bf16, i8, e4m3 or e5m2.
/// - `weights`: One of (2 f, k), or two of (f, k).
/// - `out`: written; (rows, f) or (batches, rows, f); f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`GateUpProject`].
pub fn gate_up_project<'a>(
    x: &TensorView<'a>,
    weights: &GateUpWeights<'a>,
    out: &TensorViewMut<'a>,
) -> GateUpProject<'a> {
    GateUpProject {
        x: *x,
        weights: weights.clone(),
        out: **out,
        options: GateUpProjectOptions::new(),
    }
}

/// The operation `gate_up_project`: see the function [`gate_up_project`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct GateUpProject<'a> {
    x: TensorView<'a>,
    weights: GateUpWeights<'a>,
    out: TensorView<'a>,
    options: GateUpProjectOptions<'a>,
}

impl<'a> GateUpProject<'a> {
    /// All options at once.
    pub fn options(mut self, options: &GateUpProjectOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// The activation function of a product.
        value activation(MatmulActivation) => options.activation;
        /// weights.
        value constant(ConstantInputs) => options.constant;
        /// True: packed weights are not rounded to the type of x.
        value exact_weights(bool) => options.exact_weights;
        /// (f); f32, f16 or bf16.
        view gate_bias(&TensorView<'a>) => options.gate_bias;
        /// (f); f32, f16 or bf16.
        view up_bias(&TensorView<'a>) => options.up_bias;
        /// None: x is multiplied as it is.
        record x_norm(&XNorm<'a>) => options.x_norm;
        /// (rows) or (1); f32; scales of x of 8 bits.
        view x_scale(&TensorView<'a>) => options.x_scale;
        /// (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks.
        view x_groups(&TensorView<'a>) => options.x_groups;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => options.workspace;
        /// The kernel to run, as `choice` names it; "separate": products, and then the kernel that combines
        /// them; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gate_up_project(stream.handle(), hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gate_up_project_warmup(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call takes; 0 if it needs none.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_gate_up_project_workspace_bytes(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), &mut bytes))?;
        Ok(bytes)
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_gate_up_project_choice(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_gate_up_project(hold.tensor(&self.x), hold.keep(self.weights.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), hold.keep(how.raw(&hold)?), &mut
            raw))?;
        TuneReport::from_raw(&raw)
    }
}
