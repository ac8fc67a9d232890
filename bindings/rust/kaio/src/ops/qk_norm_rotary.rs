// Made by bindings/rust/generate.py from src/c/operations/qk_norm_rotary.json.
//! Norms and rotation of heads.

use super::*;
use crate::call::*;

/// Options of qk_norm_rotary.
#[derive(Clone, Debug)]
pub struct QkNormRotaryOptions<'a> {
    q_norm: Option<TensorView<'a>>,
    k_norm: Option<TensorView<'a>>,
    epsilon: f32,
    weight_offset: f32,
    cos: Option<TensorView<'a>>,
    sin: Option<TensorView<'a>>,
    rotary: Option<RotaryOptions<'a>>,
}

impl<'a> QkNormRotaryOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        QkNormRotaryOptions {
            q_norm: None,
            k_norm: None,
            epsilon: 1e-06,
            weight_offset: 0.0,
            cos: None,
            sin: None,
            rotary: None,
        }
    }

    setters! {
        /// (D); f32, f16 or bf16; f32, or elements of q; none: Q is not normed.
        view q_norm(&TensorView<'a>) => q_norm;
        /// (D); f32, f16 or bf16; f32, or elements of q; none: K is not normed.
        view k_norm(&TensorView<'a>) => k_norm;
        /// Epsilon; default 1e-06.
        value epsilon(f32) => epsilon;
        /// Added to the weights: 1 for Gemma.
        value weight_offset(f32) => weight_offset;
        /// (positions, P); f32, f16 or bf16; 2 P \<= D; none: nothing is rotated.
        view cos(&TensorView<'a>) => cos;
        /// As cos; f32, f16 or bf16.
        view sin(&TensorView<'a>) => sin;
        /// None: all defaults.
        record rotary(&RotaryOptions<'a>) => rotary;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_qk_norm_rotary_options> {
        Ok(sys::kaio_qk_norm_rotary_options {
            q_norm: hold.optional(&self.q_norm),
            k_norm: hold.optional(&self.k_norm),
            epsilon: self.epsilon,
            weight_offset: self.weight_offset,
            cos: hold.optional(&self.cos),
            sin: hold.optional(&self.sin),
            rotary: match &self.rotary { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            ..Default::default()
        })
    }
}

impl<'a> Default for QkNormRotaryOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// The norm of each head of Q and K, and then its rotation by the token's position.
///
/// h = x / rms(x) * (weight_offset + norm) in f32, rounded; then as rotary. Tensors of three dimensions
/// need rotary.cu_seqlens or rotary.positions.
///
/// # Arguments
///
/// - `q`: (B, S, Hq, D) or (tokens, Hq, D); f32, f16 or bf16; D \<= 512.
/// - `q_out`: written; as q; elements of q; may be q itself.
/// - `options`: Options of qk_norm_rotary.
///
/// Nothing happens before `run`. Options are methods of [`QkNormRotary`].
pub fn qk_norm_rotary<'a>(
    q: &TensorView<'a>,
    q_out: &TensorViewMut<'a>,
    options: &QkNormRotaryOptions<'a>,
) -> QkNormRotary<'a> {
    QkNormRotary {
        q: *q,
        q_out: **q_out,
        options: options.clone(),
        k: None,
        k_out: None,
    }
}

/// The operation `qk_norm_rotary`: see the function [`qk_norm_rotary`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct QkNormRotary<'a> {
    q: TensorView<'a>,
    q_out: TensorView<'a>,
    options: QkNormRotaryOptions<'a>,
    k: Option<TensorView<'a>>,
    k_out: Option<TensorView<'a>>,
}

impl<'a> QkNormRotary<'a> {
    setters! {
        /// As q, with heads of its own; elements of q; none: there is none.
        view k(&TensorView<'a>) => k;
        /// As k; elements of q; may be k itself.
        written k_out(&TensorViewMut<'a>) => k_out;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_qk_norm_rotary(stream.handle(), hold.tensor(&self.q), hold.optional(&self.k),
            hold.tensor(&self.q_out), hold.optional(&self.k_out), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_qk_norm_rotary_warmup(hold.tensor(&self.q), hold.optional(&self.k),
            hold.tensor(&self.q_out), hold.optional(&self.k_out), hold.keep(self.options.raw(&hold)?)))
    }
}
