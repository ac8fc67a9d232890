//! Attention with gradients.

mod recorded;

use crate::operation::{apply, no_gradient, with_inputs};
use crate::Precision;
use candle_core::{bail, Error, Result, Tensor};
use recorded::Attention;

/// Whether a query attends to no later keys, and where its own key is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Causal {
    /// A query attends to all keys.
    #[default]
    No,
    /// key <= query: torch's is_causal.
    TopLeft,
    /// key <= query + keys - queries: FlashAttention's. With as many keys as queries both are the same.
    BottomRight,
}

impl Causal {
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::No => kaio_sys::KAIO_CAUSAL_ALIGNMENT_NONE,
            Self::TopLeft => kaio_sys::KAIO_CAUSAL_ALIGNMENT_TOP_LEFT,
            Self::BottomRight => kaio_sys::KAIO_CAUSAL_ALIGNMENT_BOTTOM_RIGHT,
        }
    }
}

/// Options of [`attention`]: scores are scale · q·k, softcap, less ALiBi, plus the bias, in this order. Tensors here get
/// no gradient, and are refused if they are tracked.
#[derive(Clone, Debug, Default)]
pub struct AttentionOptions {
    /// The factor of q·k. None: 1 / sqrt(head size).
    pub scale: Option<f32>,
    /// Above 0: a score x becomes softcap · tanh(x / softcap).
    pub softcap: f32,
    /// The causal mask.
    pub causal: Causal,
    /// Keys before and after a query's own one that it attends to. None: all.
    pub window: (Option<usize>, Option<usize>),
    /// Tensors are (batch, heads, sequence, size), as in candle's models. Else (batch, sequence, heads, size).
    pub heads_first: bool,
    /// How products of f32 are computed.
    pub precision: Precision,
    /// The bits of a sequence do not depend on the other sequences of the call.
    pub batch_invariant: bool,
    /// Slopes (heads) or (batches, heads), f32.
    pub alibi: Option<Tensor>,
    /// Added to scores: (batches, heads, queries, keys) or the last of these; an extent of 1 serves all. Not for varlen.
    pub bias: Option<Tensor>,
    /// As bias, U8: 0 masks the key. Not for varlen.
    pub keep: Option<Tensor>,
    /// (heads): the score of an extra key without a value.
    pub sinks: Option<Tensor>,
}

/// Sequences that follow each other along the rows of a tensor.
#[derive(Clone, Debug)]
pub struct Sequences {
    /// (sequences + 1), I32 or U32: sequence b has rows `cu_q[b]` to before `cu_q[b + 1]` of q. The numbers must be rows of
    /// q: kernels do not check them.
    pub cu_q: Tensor,
    /// Likewise of k and v.
    pub cu_k: Tensor,
    /// At least the rows of q of the longest sequence.
    pub max_q: usize,
    /// At least the rows of k of the longest sequence.
    pub max_k: usize,
}

/// `softmax(mask(scale q kᵀ)) v` for q (B, Sq, Hq, D), k (B, Sk, Hkv, D), v (B, Sk, Hkv, Dv), with gradients of the three.
///
/// Hq is a multiple of Hkv; D and Dv are up to 512. Strides are free but for the last, which is 1. A query without keys
/// gets zeros. The result has the order of dimensions of q.
pub fn attention(q: &Tensor, k: &Tensor, v: &Tensor, options: &AttentionOptions) -> Result<Tensor> {
    apply(Attention::of(options, None, &[q, k, v])?, &[q, k, v])
}

/// [`attention`] of sequences of different lengths: q (rows, Hq, D), k (rows of k, Hkv, D), v (rows of k, Hkv, Dv).
///
/// Masks are aligned in each sequence by its own lengths. Rows of no sequence become zeros. Lengths are read on the
/// device when the call runs.
pub fn attention_varlen(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    sequences: &Sequences,
    options: &AttentionOptions,
) -> Result<Tensor> {
    if options.heads_first {
        bail!("kaio: attention_varlen: heads_first has no meaning for (rows, heads, size)")
    }
    apply(
        Attention::of(options, Some(sequences.clone()), &[q, k, v])?,
        &[q, k, v],
    )
}

/// [`attention`] and its lse (B, Hq, Sq): ln of the sum of exp of the scores. For inference: tracked tensors are refused.
pub fn attention_with_lse(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    options: &AttentionOptions,
) -> Result<(Tensor, Tensor)> {
    no_gradient("attention_with_lse", &[Some(q), Some(k), Some(v)])?;
    let operation = Attention::of(options, None, &[q, k, v])?;
    with_inputs(&[q, k, v], |place, inputs| {
        let (out, lse) = operation.run(place, inputs, true)?;
        Ok((
            out.tensor(),
            lse.ok_or_else(|| Error::msg("kaio: attention: there is no lse"))?,
        ))
    })
}
