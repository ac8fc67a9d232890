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

    /// (n, k); f32, f16, bf16, i8, e4m3 or e5m2; the element type of x; i8, e4m3 and e5m2 with scales.
    pub fn matrix(mut self, matrix: &TensorView<'a>) -> Self {
        self.matrix = Some(*matrix);
        self
    }

    /// (n) or (1); f32; of a matrix of 8 bits; i8 needs it.
    pub fn scale(mut self, scale: &TensorView<'a>) -> Self {
        self.scale = Some(*scale);
        self
    }

    /// (ceil(n / 128), ceil(k / 128)); f32; of e4m3 and e5m2, with x_groups.
    pub fn blocks(mut self, blocks: &TensorView<'a>) -> Self {
        self.blocks = Some(*blocks);
        self
    }

    /// For x of f16 or bf16.
    pub fn w4(mut self, w4: &W4Weights<'a>) -> Self {
        self.w4 = Some(w4.clone());
        self
    }

    /// For x of f16 or bf16.
    pub fn w8(mut self, w8: &W8Weights<'a>) -> Self {
        self.w8 = Some(w8.clone());
        self
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

    /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is
    /// given by its strides.
    pub fn all(mut self, all: &ProjectionWeight<'a>) -> Self {
        self.all = Some(all.clone());
        self
    }

    /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is
    /// given by its strides.
    pub fn q(mut self, q: &ProjectionWeight<'a>) -> Self {
        self.q = Some(q.clone());
        self
    }

    /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is
    /// given by its strides.
    pub fn k(mut self, k: &ProjectionWeight<'a>) -> Self {
        self.k = Some(k.clone());
        self
    }

    /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is
    /// given by its strides.
    pub fn v(mut self, v: &ProjectionWeight<'a>) -> Self {
        self.v = Some(v.clone());
        self
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

    /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is
    /// given by its strides.
    pub fn both(mut self, both: &ProjectionWeight<'a>) -> Self {
        self.both = Some(both.clone());
        self
    }

    /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is
    /// given by its strides.
    pub fn gate(mut self, gate: &ProjectionWeight<'a>) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// A weight (n, k), n outputs by k inputs: exactly one of matrix, w4 and w8. A matrix stored (k, n) is
    /// given by its strides.
    pub fn up(mut self, up: &ProjectionWeight<'a>) -> Self {
        self.up = Some(up.clone());
        self
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

    /// (tokens, heads, size) or (batches, tokens, heads, size); f16 or bf16; needed.
    pub fn q(mut self, q: &TensorViewMut<'a>) -> Self {
        self.q = Some(**q);
        self
    }

    /// As q, with heads of its own; elements of q.
    pub fn k(mut self, k: &TensorViewMut<'a>) -> Self {
        self.k = Some(**k);
        self
    }

    /// As k; the size may differ; elements of q.
    pub fn v(mut self, v: &TensorViewMut<'a>) -> Self {
        self.v = Some(**v);
        self
    }

    /// Appended to, as append_kv does.
    pub fn cache(mut self, cache: &KvCache<'a>) -> Self {
        self.cache = Some(cache.clone());
        self
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

/// RMS norm of x before the product: h = x + residual; x' = h / rms(h) \* (weight_offset + weight).
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
    /// - `weight`: Needed; (k); f32, f16 or bf16; elements of x.
    pub fn new(weight: &TensorView<'a>) -> Self {
        XNorm {
            epsilon: 1e-06,
            weight_offset: 0.0,
            weight: *weight,
            residual: None,
            residual_out: None,
        }
    }

    /// Epsilon; default 1e-06.
    pub fn epsilon(mut self, epsilon: f32) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// 1 for Gemma.
    pub fn weight_offset(mut self, weight_offset: f32) -> Self {
        self.weight_offset = weight_offset;
        self
    }

    /// As x; elements of weight; added to x.
    pub fn residual(mut self, residual: &TensorView<'a>) -> Self {
        self.residual = Some(*residual);
        self
    }

    /// As x; elements of weight; gets h; may be the residual itself.
    pub fn residual_out(mut self, residual_out: &TensorViewMut<'a>) -> Self {
        self.residual_out = Some(**residual_out);
        self
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
    /// - `cos`: Needed; (positions, pairs); f32, f16 or bf16.
    /// - `sin`: Needed; as cos; elements of cos.
    pub fn new(cos: &TensorView<'a>, sin: &TensorView<'a>) -> Self {
        QkvRotary {
            interleaved: false,
            cos: *cos,
            sin: *sin,
            positions: None,
            offsets: None,
        }
    }

    /// True: pairs (0, 1), (2, 3), ..., as in GPT-J; false: (0, P), (1, P + 1), ..., as in Llama.
    pub fn interleaved(mut self, interleaved: bool) -> Self {
        self.interleaved = interleaved;
        self
    }

    /// (tokens) or (batches, tokens); i32 or i64.
    pub fn positions(mut self, positions: &TensorView<'a>) -> Self {
        self.positions = Some(*positions);
        self
    }

    /// (sequences); i32; only without a cache.
    pub fn offsets(mut self, offsets: &TensorView<'a>) -> Self {
        self.offsets = Some(*offsets);
        self
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

    /// Of q_norm and k_norm; default 1e-06.
    pub fn epsilon(mut self, epsilon: f32) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Added to the weights of q_norm and k_norm: 1 for Gemma.
    pub fn norm_offset(mut self, norm_offset: f32) -> Self {
        self.norm_offset = norm_offset;
        self
    }

    /// Multiplies Q at the end; default 1.0.
    pub fn q_scale(mut self, q_scale: f32) -> Self {
        self.q_scale = q_scale;
        self
    }

    /// weights.
    pub fn constant(mut self, constant: ConstantInputs) -> Self {
        self.constant = constant;
        self
    }

    /// Of K in kernels for few rows: 1, 2 or 4; 0: automatic.
    pub fn splits(mut self, splits: u32) -> Self {
        self.splits = splits;
        self
    }

    /// True: packed weights are not rounded to the type of x.
    pub fn exact_weights(mut self, exact_weights: bool) -> Self {
        self.exact_weights = exact_weights;
        self
    }

    /// (heads \* size); f16 or bf16.
    pub fn q_bias(mut self, q_bias: &TensorView<'a>) -> Self {
        self.q_bias = Some(*q_bias);
        self
    }

    /// (heads \* size); f16 or bf16.
    pub fn k_bias(mut self, k_bias: &TensorView<'a>) -> Self {
        self.k_bias = Some(*k_bias);
        self
    }

    /// (heads \* size); f16 or bf16.
    pub fn v_bias(mut self, v_bias: &TensorView<'a>) -> Self {
        self.v_bias = Some(*v_bias);
        self
    }

    /// (size); f16 or bf16; weight of the RMS norm of each head.
    pub fn q_norm(mut self, q_norm: &TensorView<'a>) -> Self {
        self.q_norm = Some(*q_norm);
        self
    }

    /// (size); f16 or bf16; weight of the RMS norm of each head.
    pub fn k_norm(mut self, k_norm: &TensorView<'a>) -> Self {
        self.k_norm = Some(*k_norm);
        self
    }

    /// None: x is multiplied as it is.
    pub fn x_norm(mut self, x_norm: &XNorm<'a>) -> Self {
        self.x_norm = Some(x_norm.clone());
        self
    }

    /// None: no rotation.
    pub fn rotary(mut self, rotary: &QkvRotary<'a>) -> Self {
        self.rotary = Some(rotary.clone());
        self
    }

    /// (sequences + 1); i32; for packed sequences: sequence b has tokens cu_seqlens\[b\] to before
    /// cu_seqlens\[b + 1\].
    pub fn cu_seqlens(mut self, cu_seqlens: &TensorView<'a>) -> Self {
        self.cu_seqlens = Some(*cu_seqlens);
        self
    }

    /// (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each
    /// token, over all pages; below 0: skipped.
    pub fn slots(mut self, slots: &TensorView<'a>) -> Self {
        self.slots = Some(*slots);
        self
    }

    /// (1), (heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits; none: 1.
    pub fn k_scale(mut self, k_scale: &TensorView<'a>) -> Self {
        self.k_scale = Some(*k_scale);
        self
    }

    /// As k_scale; f32.
    pub fn v_scale(mut self, v_scale: &TensorView<'a>) -> Self {
        self.v_scale = Some(*v_scale);
        self
    }

    /// (pages, rows, heads); f32; gets computed scales, one for each row of a head.
    pub fn k_scale_out(mut self, k_scale_out: &TensorViewMut<'a>) -> Self {
        self.k_scale_out = Some(**k_scale_out);
        self
    }

    /// (pages, rows, heads); f32.
    pub fn v_scale_out(mut self, v_scale_out: &TensorViewMut<'a>) -> Self {
        self.v_scale_out = Some(**v_scale_out);
        self
    }

    /// (rows) or (1); f32; scales of x of 8 bits.
    pub fn x_scale(mut self, x_scale: &TensorView<'a>) -> Self {
        self.x_scale = Some(*x_scale);
        self
    }

    /// (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks.
    pub fn x_groups(mut self, x_groups: &TensorView<'a>) -> Self {
        self.x_groups = Some(*x_groups);
        self
    }

    /// `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.workspace = Some(**workspace);
        self
    }

    /// The kernel to run, as `choice` names it; "separate": a product, and then the heads; none: the best
    /// one.
    pub fn variant(mut self, variant: &str) -> Self {
        self.variant = Some(variant.to_string());
        self
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

    /// The activation function of a product.
    pub fn activation(mut self, activation: MatmulActivation) -> Self {
        self.activation = activation;
        self
    }

    /// weights.
    pub fn constant(mut self, constant: ConstantInputs) -> Self {
        self.constant = constant;
        self
    }

    /// True: packed weights are not rounded to the type of x.
    pub fn exact_weights(mut self, exact_weights: bool) -> Self {
        self.exact_weights = exact_weights;
        self
    }

    /// (f); f32, f16 or bf16.
    pub fn gate_bias(mut self, gate_bias: &TensorView<'a>) -> Self {
        self.gate_bias = Some(*gate_bias);
        self
    }

    /// (f); f32, f16 or bf16.
    pub fn up_bias(mut self, up_bias: &TensorView<'a>) -> Self {
        self.up_bias = Some(*up_bias);
        self
    }

    /// None: x is multiplied as it is.
    pub fn x_norm(mut self, x_norm: &XNorm<'a>) -> Self {
        self.x_norm = Some(x_norm.clone());
        self
    }

    /// (rows) or (1); f32; scales of x of 8 bits.
    pub fn x_scale(mut self, x_scale: &TensorView<'a>) -> Self {
        self.x_scale = Some(*x_scale);
        self
    }

    /// (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks.
    pub fn x_groups(mut self, x_groups: &TensorView<'a>) -> Self {
        self.x_groups = Some(*x_groups);
        self
    }

    /// `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.workspace = Some(**workspace);
        self
    }

    /// The kernel to run, as `choice` names it; "separate": products, and then the kernel that combines
    /// them; none: the best one.
    pub fn variant(mut self, variant: &str) -> Self {
        self.variant = Some(variant.to_string());
        self
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
pub fn qkv_project<'a>(x: &TensorView<'a>, weights: &QkvWeights<'a>, outputs: &QkvOutputs<'a>) -> QkvProject<'a> {
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

    /// Of q_norm and k_norm; default 1e-06.
    pub fn epsilon(mut self, epsilon: f32) -> Self {
        self.options.epsilon = epsilon;
        self
    }

    /// Added to the weights of q_norm and k_norm: 1 for Gemma.
    pub fn norm_offset(mut self, norm_offset: f32) -> Self {
        self.options.norm_offset = norm_offset;
        self
    }

    /// Multiplies Q at the end; default 1.0.
    pub fn q_scale(mut self, q_scale: f32) -> Self {
        self.options.q_scale = q_scale;
        self
    }

    /// weights.
    pub fn constant(mut self, constant: ConstantInputs) -> Self {
        self.options.constant = constant;
        self
    }

    /// Of K in kernels for few rows: 1, 2 or 4; 0: automatic.
    pub fn splits(mut self, splits: u32) -> Self {
        self.options.splits = splits;
        self
    }

    /// True: packed weights are not rounded to the type of x.
    pub fn exact_weights(mut self, exact_weights: bool) -> Self {
        self.options.exact_weights = exact_weights;
        self
    }

    /// (heads \* size); f16 or bf16.
    pub fn q_bias(mut self, q_bias: &TensorView<'a>) -> Self {
        self.options.q_bias = Some(*q_bias);
        self
    }

    /// (heads \* size); f16 or bf16.
    pub fn k_bias(mut self, k_bias: &TensorView<'a>) -> Self {
        self.options.k_bias = Some(*k_bias);
        self
    }

    /// (heads \* size); f16 or bf16.
    pub fn v_bias(mut self, v_bias: &TensorView<'a>) -> Self {
        self.options.v_bias = Some(*v_bias);
        self
    }

    /// (size); f16 or bf16; weight of the RMS norm of each head.
    pub fn q_norm(mut self, q_norm: &TensorView<'a>) -> Self {
        self.options.q_norm = Some(*q_norm);
        self
    }

    /// (size); f16 or bf16; weight of the RMS norm of each head.
    pub fn k_norm(mut self, k_norm: &TensorView<'a>) -> Self {
        self.options.k_norm = Some(*k_norm);
        self
    }

    /// None: x is multiplied as it is.
    pub fn x_norm(mut self, x_norm: &XNorm<'a>) -> Self {
        self.options.x_norm = Some(x_norm.clone());
        self
    }

    /// None: no rotation.
    pub fn rotary(mut self, rotary: &QkvRotary<'a>) -> Self {
        self.options.rotary = Some(rotary.clone());
        self
    }

    /// (sequences + 1); i32; for packed sequences: sequence b has tokens cu_seqlens\[b\] to before
    /// cu_seqlens\[b + 1\].
    pub fn cu_seqlens(mut self, cu_seqlens: &TensorView<'a>) -> Self {
        self.options.cu_seqlens = Some(*cu_seqlens);
        self
    }

    /// (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each
    /// token, over all pages; below 0: skipped.
    pub fn slots(mut self, slots: &TensorView<'a>) -> Self {
        self.options.slots = Some(*slots);
        self
    }

    /// (1), (heads) or (pages, rows, heads); f32; given scales of a cache of 8 bits; none: 1.
    pub fn k_scale(mut self, k_scale: &TensorView<'a>) -> Self {
        self.options.k_scale = Some(*k_scale);
        self
    }

    /// As k_scale; f32.
    pub fn v_scale(mut self, v_scale: &TensorView<'a>) -> Self {
        self.options.v_scale = Some(*v_scale);
        self
    }

    /// (pages, rows, heads); f32; gets computed scales, one for each row of a head.
    pub fn k_scale_out(mut self, k_scale_out: &TensorViewMut<'a>) -> Self {
        self.options.k_scale_out = Some(**k_scale_out);
        self
    }

    /// (pages, rows, heads); f32.
    pub fn v_scale_out(mut self, v_scale_out: &TensorViewMut<'a>) -> Self {
        self.options.v_scale_out = Some(**v_scale_out);
        self
    }

    /// (rows) or (1); f32; scales of x of 8 bits.
    pub fn x_scale(mut self, x_scale: &TensorView<'a>) -> Self {
        self.options.x_scale = Some(*x_scale);
        self
    }

    /// (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks.
    pub fn x_groups(mut self, x_groups: &TensorView<'a>) -> Self {
        self.options.x_groups = Some(*x_groups);
        self
    }

    /// `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.options.workspace = Some(**workspace);
        self
    }

    /// The kernel to run, as `choice` names it; "separate": a product, and then the heads; none: the best
    /// one.
    pub fn variant(mut self, variant: &str) -> Self {
        self.options.variant = Some(variant.to_string());
        self
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_qkv_project)(
                stream.handle(),
                hold.tensor(&self.x),
                hold.keep(self.weights.raw(&hold)?),
                hold.keep(self.outputs.raw(&hold)?),
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
            (functions.kaio_qkv_project_warmup)(
                hold.tensor(&self.x),
                hold.keep(self.weights.raw(&hold)?),
                hold.keep(self.outputs.raw(&hold)?),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// The bytes of workspace that the call takes; 0 if it needs none.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut bytes = 0;
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_qkv_project_workspace_bytes)(
                hold.tensor(&self.x),
                hold.keep(self.weights.raw(&hold)?),
                hold.keep(self.outputs.raw(&hold)?),
                hold.keep(self.options.raw(&hold)?),
                &mut bytes,
            )
        };
        check(functions, status)?;
        Ok(bytes)
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_qkv_project_choice)(
                hold.tensor(&self.x),
                hold.keep(self.weights.raw(&hold)?),
                hold.keep(self.outputs.raw(&hold)?),
                hold.keep(self.options.raw(&hold)?),
                &mut raw,
            )
        };
        check(functions, status)?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_tune_qkv_project)(
                hold.tensor(&self.x),
                hold.keep(self.weights.raw(&hold)?),
                hold.keep(self.outputs.raw(&hold)?),
                hold.keep(self.options.raw(&hold)?),
                hold.keep(how.raw(&hold)?),
                &mut raw,
            )
        };
        check(functions, status)?;
        TuneReport::from_raw(&raw)
    }
}

/// Out = activation(x Wg^T + gate_bias) \* (x Wu^T + up_bias), the first half of a gated feed-forward
/// block.
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
pub fn gate_up_project<'a>(x: &TensorView<'a>, weights: &GateUpWeights<'a>, out: &TensorViewMut<'a>) -> GateUpProject<'a> {
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

    /// The activation function of a product.
    pub fn activation(mut self, activation: MatmulActivation) -> Self {
        self.options.activation = activation;
        self
    }

    /// weights.
    pub fn constant(mut self, constant: ConstantInputs) -> Self {
        self.options.constant = constant;
        self
    }

    /// True: packed weights are not rounded to the type of x.
    pub fn exact_weights(mut self, exact_weights: bool) -> Self {
        self.options.exact_weights = exact_weights;
        self
    }

    /// (f); f32, f16 or bf16.
    pub fn gate_bias(mut self, gate_bias: &TensorView<'a>) -> Self {
        self.options.gate_bias = Some(*gate_bias);
        self
    }

    /// (f); f32, f16 or bf16.
    pub fn up_bias(mut self, up_bias: &TensorView<'a>) -> Self {
        self.options.up_bias = Some(*up_bias);
        self
    }

    /// None: x is multiplied as it is.
    pub fn x_norm(mut self, x_norm: &XNorm<'a>) -> Self {
        self.options.x_norm = Some(x_norm.clone());
        self
    }

    /// (rows) or (1); f32; scales of x of 8 bits.
    pub fn x_scale(mut self, x_scale: &TensorView<'a>) -> Self {
        self.options.x_scale = Some(*x_scale);
        self
    }

    /// (rows, ceil(k / 128)); f32; scales of x of e4m3 and e5m2, with weights that have blocks.
    pub fn x_groups(mut self, x_groups: &TensorView<'a>) -> Self {
        self.options.x_groups = Some(*x_groups);
        self
    }

    /// `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.options.workspace = Some(**workspace);
        self
    }

    /// The kernel to run, as `choice` names it; "separate": products, and then the kernel that combines
    /// them; none: the best one.
    pub fn variant(mut self, variant: &str) -> Self {
        self.options.variant = Some(variant.to_string());
        self
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_gate_up_project)(
                stream.handle(),
                hold.tensor(&self.x),
                hold.keep(self.weights.raw(&hold)?),
                hold.tensor(&self.out),
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
            (functions.kaio_gate_up_project_warmup)(
                hold.tensor(&self.x),
                hold.keep(self.weights.raw(&hold)?),
                hold.tensor(&self.out),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// The bytes of workspace that the call takes; 0 if it needs none.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut bytes = 0;
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_gate_up_project_workspace_bytes)(
                hold.tensor(&self.x),
                hold.keep(self.weights.raw(&hold)?),
                hold.tensor(&self.out),
                hold.keep(self.options.raw(&hold)?),
                &mut bytes,
            )
        };
        check(functions, status)?;
        Ok(bytes)
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_gate_up_project_choice)(
                hold.tensor(&self.x),
                hold.keep(self.weights.raw(&hold)?),
                hold.tensor(&self.out),
                hold.keep(self.options.raw(&hold)?),
                &mut raw,
            )
        };
        check(functions, status)?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_tune_gate_up_project)(
                hold.tensor(&self.x),
                hold.keep(self.weights.raw(&hold)?),
                hold.tensor(&self.out),
                hold.keep(self.options.raw(&hold)?),
                hold.keep(how.raw(&hold)?),
                &mut raw,
            )
        };
        check(functions, status)?;
        TuneReport::from_raw(&raw)
    }
}
