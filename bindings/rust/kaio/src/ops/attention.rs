// Made by bindings/rust/generate.py from src/c/operations/attention.json.
//! Attention.

use super::*;
use crate::call::*;

/// Whether a query attends to no later keys, and where its own key is. With as many keys as queries, both
/// alignments agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum CausalAlignment {
    /// none.
    None = 0,
    /// Key \<= query: torch's is_causal.
    TopLeft = 1,
    /// Key \<= query + keys - queries: FlashAttention's.
    BottomRight = 2,
}

impl CausalAlignment {
    pub(crate) fn from_raw(raw: i32) -> Result<CausalAlignment> {
        match raw {
            0 => Ok(CausalAlignment::None),
            1 => Ok(CausalAlignment::TopLeft),
            2 => Ok(CausalAlignment::BottomRight),
            other => Err(Error::internal(format!("kaio: {} is no CausalAlignment that this crate knows", other))),
        }
    }
}

/// How products of f32 are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum AttentionPrecision {
    /// multiply-adds in f32.
    Ieee = 0,
    /// Tensor cores, inputs rounded to 11 significant bits; exact if no kernel does it.
    Tf32 = 1,
}

impl AttentionPrecision {
    pub(crate) fn from_raw(raw: i32) -> Result<AttentionPrecision> {
        match raw {
            0 => Ok(AttentionPrecision::Ieee),
            1 => Ok(AttentionPrecision::Tf32),
            other => Err(Error::internal(format!("kaio: {} is no AttentionPrecision that this crate knows", other))),
        }
    }
}

/// The blocks of keys that each block of queries visits, as FlexAttention's BlockMask. B' is the batches of
/// q or 1, H' its heads or 1, Qb = ceil(queries / block_queries). Kb is any room.
#[derive(Clone, Debug)]
pub struct BlockMask<'a> {
    block_queries: i64,
    block_keys: i64,
    kv_num_blocks: Option<TensorView<'a>>,
    kv_indices: Option<TensorView<'a>>,
    full_kv_num_blocks: Option<TensorView<'a>>,
    full_kv_indices: Option<TensorView<'a>>,
}

impl<'a> BlockMask<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        BlockMask {
            block_queries: 128,
            block_keys: 128,
            kv_num_blocks: None,
            kv_indices: None,
            full_kv_num_blocks: None,
            full_kv_indices: None,
        }
    }

    setters! {
        /// Queries of a block; multiples of 128 are fastest; default 128.
        value block_queries(i64) => block_queries;
        /// Keys of a block; default 128.
        value block_keys(i64) => block_keys;
        /// (B', H', Qb); i32; how many blocks of keys are visited with the mask.
        view kv_num_blocks(&TensorView<'a>) => kv_num_blocks;
        /// (B', H', Qb, Kb); i32; which blocks.
        view kv_indices(&TensorView<'a>) => kv_indices;
        /// (B', H', Qb); i32; how many blocks of keys are kept as a whole; none: none.
        view full_kv_num_blocks(&TensorView<'a>) => full_kv_num_blocks;
        /// (B', H', Qb, Kb); i32; which blocks.
        view full_kv_indices(&TensorView<'a>) => full_kv_indices;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_block_mask> {
        Ok(sys::kaio_block_mask {
            block_queries: self.block_queries,
            block_keys: self.block_keys,
            kv_num_blocks: hold.optional(&self.kv_num_blocks),
            kv_indices: hold.optional(&self.kv_indices),
            full_kv_num_blocks: hold.optional(&self.full_kv_num_blocks),
            full_kv_indices: hold.optional(&self.full_kv_indices),
            ..Default::default()
        })
    }
}

impl<'a> Default for BlockMask<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of attention. The scores are scale * q . k, softcap, less ALiBi, plus the bias, in this order.
#[derive(Clone, Debug)]
pub struct AttentionOptions<'a> {
    scale: f32,
    softcap: f32,
    causal: CausalAlignment,
    precision: AttentionPrecision,
    batch_invariant: bool,
    window_left: i64,
    window_right: i64,
    alibi: Option<TensorView<'a>>,
    bias: Option<TensorView<'a>>,
    keep: Option<TensorView<'a>>,
    sinks: Option<TensorView<'a>>,
    lse: Option<TensorView<'a>>,
    blocks: Option<BlockMask<'a>>,
    variant: Option<String>,
}

impl<'a> AttentionOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        AttentionOptions {
            scale: 0.0,
            softcap: 0.0,
            causal: CausalAlignment::None,
            precision: AttentionPrecision::Ieee,
            batch_invariant: false,
            window_left: -1,
            window_right: -1,
            alibi: None,
            bias: None,
            keep: None,
            sinks: None,
            lse: None,
            blocks: None,
            variant: None,
        }
    }

    setters! {
        /// The factor of q . k; 0: 1 / sqrt(head size of q).
        value scale(f32) => scale;
        /// Above 0: the score x becomes softcap * tanh(x / softcap).
        value softcap(f32) => softcap;
        /// Whether a query attends to no later keys, and where its own key is. With as many keys as
        /// queries, both alignments agree.
        value causal(CausalAlignment) => causal;
        /// For operands of f32.
        value precision(AttentionPrecision) => precision;
        /// True: the bits of a sequence do not depend on the other sequences of the call.
        value batch_invariant(bool) => batch_invariant;
        /// Keys before a query's own one that it attends to; -1: all; default -1.
        value window_left(i64) => window_left;
        /// Keys after its own one; -1: all; causal makes it 0; default -1.
        value window_right(i64) => window_right;
        /// (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|.
        view alibi(&TensorView<'a>) => alibi;
        /// (batches, heads, queries, keys) or the last of these; f32, f16 or bf16; added; an extent of 1
        /// serves all; f32, or elements of q; not for attention_varlen.
        view bias(&TensorView<'a>) => bias;
        /// As bias; bool or u8; 0 masks the key; not for attention_varlen.
        view keep(&TensorView<'a>) => keep;
        /// (heads); f32, f16 or bf16; the score of an extra key without a value.
        view sinks(&TensorView<'a>) => sinks;
        /// (batches, heads, queries); (heads, rows) for attention_varlen; f32; gets ln of the sum of
        /// exp(x); -inf without a key.
        written lse(&TensorViewMut<'a>) => lse;
        /// The blocks of keys that are visited; none: all.
        record blocks(&BlockMask<'a>) => blocks;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => variant;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_attention_options> {
        Ok(sys::kaio_attention_options {
            scale: self.scale,
            softcap: self.softcap,
            causal: self.causal as i32,
            precision: self.precision as i32,
            batch_invariant: i32::from(self.batch_invariant),
            window_left: self.window_left,
            window_right: self.window_right,
            alibi: hold.optional(&self.alibi),
            bias: hold.optional(&self.bias),
            keep: hold.optional(&self.keep),
            sinks: hold.optional(&self.sinks),
            lse: hold.optional(&self.lse),
            blocks: match &self.blocks { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            variant: hold.text("variant", &self.variant)?,
            ..Default::default()
        })
    }
}

impl<'a> Default for AttentionOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Sequences that follow each other along the rows of a tensor. Sequence b has rows cu_q\[b\] to before
/// cu_q\[b + 1\] of q. The device reads these numbers when the call runs.
#[derive(Clone, Debug)]
pub struct AttentionSequences<'a> {
    cu_q: TensorView<'a>,
    cu_k: Option<TensorView<'a>>,
    max_q: i64,
    max_k: i64,
    used_q: Option<TensorView<'a>>,
    used_k: Option<TensorView<'a>>,
}

impl<'a> AttentionSequences<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `cu_q`: (sequences + 1); i32; from 0 on, never decreasing.
    pub fn new(cu_q: &TensorView<'a>) -> Self {
        AttentionSequences {
            cu_q: *cu_q,
            cu_k: None,
            max_q: 0,
            max_k: 0,
            used_q: None,
            used_k: None,
        }
    }

    setters! {
        /// (sequences + 1); i32; likewise, of k and v; not for a cache.
        view cu_k(&TensorView<'a>) => cu_k;
        /// At least the rows of q of the longest sequence.
        value max_q(i64) => max_q;
        /// For gradients: at least the rows of k of the longest sequence; 0: all rows.
        value max_k(i64) => max_k;
        /// (sequences); i32; the used rows of each; none: all.
        view used_q(&TensorView<'a>) => used_q;
        /// (sequences); i32; likewise, of k and v.
        view used_k(&TensorView<'a>) => used_k;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_attention_sequences> {
        Ok(sys::kaio_attention_sequences {
            cu_q: hold.tensor(&self.cu_q),
            cu_k: hold.optional(&self.cu_k),
            max_q: self.max_q,
            max_k: self.max_k,
            used_q: hold.optional(&self.used_q),
            used_k: hold.optional(&self.used_k),
            ..Default::default()
        })
    }
}

/// out = softmax(mask(scale * Q K^T)) V for every head, without the matrix of scores in memory.
///
/// The last stride of each tensor is 1, others are free. A tensor in the order of torch, (batches, heads,
/// sequence, size), is passed with strides. Hq is a multiple of Hkv. D and Dv are 1 to 512.
///
/// A query that attends to no key gets zeros. Equal calls give equal bits.
///
/// # Arguments
///
/// - `q`: (B, Sq, Hq, D); f32, f16 or bf16.
/// - `k`: (B, Sk, Hkv, D); elements of q.
/// - `v`: (B, Sk, Hkv, Dv); elements of q.
/// - `out`: written; (B, Sq, Hq, Dv); f32, f16 or bf16; elements of q, or f32.
///
/// Nothing happens before `run`. Options are methods of [`Attention`].
pub fn attention<'a>(
    q: &TensorView<'a>,
    k: &TensorView<'a>,
    v: &TensorView<'a>,
    out: &TensorViewMut<'a>,
) -> Attention<'a> {
    Attention {
        q: *q,
        k: *k,
        v: *v,
        out: **out,
        options: AttentionOptions::new(),
    }
}

/// The operation `attention`: see the function [`attention`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Attention<'a> {
    q: TensorView<'a>,
    k: TensorView<'a>,
    v: TensorView<'a>,
    out: TensorView<'a>,
    options: AttentionOptions<'a>,
}

impl<'a> Attention<'a> {
    /// All options at once.
    pub fn options(mut self, options: &AttentionOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// The factor of q . k; 0: 1 / sqrt(head size of q).
        value scale(f32) => options.scale;
        /// Above 0: the score x becomes softcap * tanh(x / softcap).
        value softcap(f32) => options.softcap;
        /// Whether a query attends to no later keys, and where its own key is. With as many keys as
        /// queries, both alignments agree.
        value causal(CausalAlignment) => options.causal;
        /// For operands of f32.
        value precision(AttentionPrecision) => options.precision;
        /// True: the bits of a sequence do not depend on the other sequences of the call.
        value batch_invariant(bool) => options.batch_invariant;
        /// Keys before a query's own one that it attends to; -1: all; default -1.
        value window_left(i64) => options.window_left;
        /// Keys after its own one; -1: all; causal makes it 0; default -1.
        value window_right(i64) => options.window_right;
        /// (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|.
        view alibi(&TensorView<'a>) => options.alibi;
        /// (batches, heads, queries, keys) or the last of these; f32, f16 or bf16; added; an extent of 1
        /// serves all; f32, or elements of q; not for attention_varlen.
        view bias(&TensorView<'a>) => options.bias;
        /// As bias; bool or u8; 0 masks the key; not for attention_varlen.
        view keep(&TensorView<'a>) => options.keep;
        /// (heads); f32, f16 or bf16; the score of an extra key without a value.
        view sinks(&TensorView<'a>) => options.sinks;
        /// (batches, heads, queries); (heads, rows) for attention_varlen; f32; gets ln of the sum of
        /// exp(x); -inf without a key.
        written lse(&TensorViewMut<'a>) => options.lse;
        /// The blocks of keys that are visited; none: all.
        record blocks(&BlockMask<'a>) => options.blocks;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention(stream.handle(), hold.tensor(&self.q), hold.tensor(&self.k),
            hold.tensor(&self.v), hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_warmup(hold.tensor(&self.q), hold.tensor(&self.k), hold.tensor(&self.v),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_attention_choice(hold.tensor(&self.q), hold.tensor(&self.k), hold.tensor(&self.v),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, on memory of its own, and remembers the fastest. Waits
    /// for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_attention(hold.tensor(&self.q), hold.tensor(&self.k), hold.tensor(&self.v),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), hold.keep(how.raw(&hold)?), &mut
            raw))?;
        TuneReport::from_raw(&raw)
    }
}

/// Attention over sequences of different lengths in one tensor.
///
/// Masks and windows are aligned in each sequence by its own lengths. Rows of no sequence, and those beyond
/// used_q, are not written. A captured call may be replayed with other lengths.
///
/// # Arguments
///
/// - `q`: (rows, Hq, D); f32, f16 or bf16.
/// - `k`: (rows of k, Hkv, D); elements of q.
/// - `v`: (rows of k, Hkv, Dv); elements of q.
/// - `out`: written; (rows, Hq, Dv); f32, f16 or bf16; elements of q, or f32.
/// - `sequences`: Sequences that follow each other along the rows of a tensor. Sequence b has rows
///   cu_q\[b\] to before cu_q\[b + 1\] of q. The device reads these numbers when the call runs.
///
/// Nothing happens before `run`. Options are methods of [`AttentionVarlen`].
pub fn attention_varlen<'a>(
    q: &TensorView<'a>,
    k: &TensorView<'a>,
    v: &TensorView<'a>,
    out: &TensorViewMut<'a>,
    sequences: &AttentionSequences<'a>,
) -> AttentionVarlen<'a> {
    AttentionVarlen {
        q: *q,
        k: *k,
        v: *v,
        out: **out,
        sequences: sequences.clone(),
        options: AttentionOptions::new(),
    }
}

/// The operation `attention_varlen`: see the function [`attention_varlen`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct AttentionVarlen<'a> {
    q: TensorView<'a>,
    k: TensorView<'a>,
    v: TensorView<'a>,
    out: TensorView<'a>,
    sequences: AttentionSequences<'a>,
    options: AttentionOptions<'a>,
}

impl<'a> AttentionVarlen<'a> {
    /// All options at once.
    pub fn options(mut self, options: &AttentionOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// The factor of q . k; 0: 1 / sqrt(head size of q).
        value scale(f32) => options.scale;
        /// Above 0: the score x becomes softcap * tanh(x / softcap).
        value softcap(f32) => options.softcap;
        /// Whether a query attends to no later keys, and where its own key is. With as many keys as
        /// queries, both alignments agree.
        value causal(CausalAlignment) => options.causal;
        /// For operands of f32.
        value precision(AttentionPrecision) => options.precision;
        /// True: the bits of a sequence do not depend on the other sequences of the call.
        value batch_invariant(bool) => options.batch_invariant;
        /// Keys before a query's own one that it attends to; -1: all; default -1.
        value window_left(i64) => options.window_left;
        /// Keys after its own one; -1: all; causal makes it 0; default -1.
        value window_right(i64) => options.window_right;
        /// (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|.
        view alibi(&TensorView<'a>) => options.alibi;
        /// (batches, heads, queries, keys) or the last of these; f32, f16 or bf16; added; an extent of 1
        /// serves all; f32, or elements of q; not for attention_varlen.
        view bias(&TensorView<'a>) => options.bias;
        /// As bias; bool or u8; 0 masks the key; not for attention_varlen.
        view keep(&TensorView<'a>) => options.keep;
        /// (heads); f32, f16 or bf16; the score of an extra key without a value.
        view sinks(&TensorView<'a>) => options.sinks;
        /// (batches, heads, queries); (heads, rows) for attention_varlen; f32; gets ln of the sum of
        /// exp(x); -inf without a key.
        written lse(&TensorViewMut<'a>) => options.lse;
        /// The blocks of keys that are visited; none: all.
        record blocks(&BlockMask<'a>) => options.blocks;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_varlen(stream.handle(), hold.tensor(&self.q), hold.tensor(&self.k),
            hold.tensor(&self.v), hold.tensor(&self.out), hold.keep(self.sequences.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_varlen_warmup(hold.tensor(&self.q), hold.tensor(&self.k), hold.tensor(&self.v),
            hold.tensor(&self.out), hold.keep(self.sequences.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// The kernel that the call runs.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_attention_varlen_choice(hold.tensor(&self.q), hold.tensor(&self.k), hold.tensor(&self.v),
            hold.tensor(&self.out), hold.keep(self.sequences.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, as if all sequences had equally many rows. Waits for
    /// the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_attention_varlen(hold.tensor(&self.q), hold.tensor(&self.k), hold.tensor(&self.v),
            hold.tensor(&self.out), hold.keep(self.sequences.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?), hold.keep(how.raw(&hold)?), &mut raw))?;
        TuneReport::from_raw(&raw)
    }
}

/// Joins two attentions of the same queries over different keys into the attention over all of them.
///
/// A result whose lse is -inf had no keys, and counts for nothing. Sinks belong to one of the two. out may
/// be out_a or out_b itself, lse likewise.
///
/// # Arguments
///
/// - `out_a`: (B, S, H, D) or (rows, H, D); f32, f16 or bf16.
/// - `lse_a`: (B, H, S) or (H, rows); f32.
/// - `out_b`: As out_a; f32, f16 or bf16.
/// - `lse_b`: As lse_a; f32.
/// - `out`: written; as out_a; f32, f16 or bf16.
///
/// Nothing happens before `run`. Options are methods of [`MergeStates`].
pub fn merge_states<'a>(
    out_a: &TensorView<'a>,
    lse_a: &TensorView<'a>,
    out_b: &TensorView<'a>,
    lse_b: &TensorView<'a>,
    out: &TensorViewMut<'a>,
) -> MergeStates<'a> {
    MergeStates {
        out_a: *out_a,
        lse_a: *lse_a,
        out_b: *out_b,
        lse_b: *lse_b,
        out: **out,
        lse: None,
    }
}

/// The operation `merge_states`: see the function [`merge_states`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MergeStates<'a> {
    out_a: TensorView<'a>,
    lse_a: TensorView<'a>,
    out_b: TensorView<'a>,
    lse_b: TensorView<'a>,
    out: TensorView<'a>,
    lse: Option<TensorView<'a>>,
}

impl<'a> MergeStates<'a> {
    setters! {
        /// As lse_a; f32; none: not written.
        written lse(&TensorViewMut<'a>) => lse;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_merge_states(stream.handle(), hold.tensor(&self.out_a), hold.tensor(&self.lse_a),
            hold.tensor(&self.out_b), hold.tensor(&self.lse_b), hold.tensor(&self.out),
            hold.optional(&self.lse)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_merge_states_warmup(hold.tensor(&self.out_a), hold.tensor(&self.lse_a),
            hold.tensor(&self.out_b), hold.tensor(&self.lse_b), hold.tensor(&self.out),
            hold.optional(&self.lse)))
    }
}
