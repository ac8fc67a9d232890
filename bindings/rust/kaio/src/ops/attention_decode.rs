// Made by bindings/rust/generate.py from src/c/operations/attention_decode.json.
//! Attention over a cache.

use super::*;
use crate::call::*;

/// How the splits of a sequence's keys are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum AttentionCombining {
    /// Whichever is faster.
    Automatic = 0,
    /// Through the workspace.
    SecondKernel = 1,
    /// In a cluster of up to 16 blocks: sm_90, up to 16 rows of a tile.
    Cluster = 2,
}

impl AttentionCombining {
    pub(crate) fn from_raw(raw: i32) -> Result<AttentionCombining> {
        match raw {
            0 => Ok(AttentionCombining::Automatic),
            1 => Ok(AttentionCombining::SecondKernel),
            2 => Ok(AttentionCombining::Cluster),
            other => Err(Error::internal(format!("kaio: {} is no AttentionCombining that this crate knows", other))),
        }
    }
}

/// New keys and values that a call appends to the cache before it reads it, as append_kv does. The cache is
/// then written.
#[derive(Clone, Debug)]
pub struct AttentionAppend<'a> {
    k: TensorView<'a>,
    v: TensorView<'a>,
    cu_k: Option<TensorView<'a>>,
    rotary: Option<AppendRotary<'a>>,
    k_scale_out: Option<TensorView<'a>>,
    v_scale_out: Option<TensorView<'a>>,
}

impl<'a> AttentionAppend<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `k`: (batches, tokens, heads, size); f32, f16 or bf16; (tokens, heads, size) for
    ///   attention_decode_varlen, or with cu_k.
    /// - `v`: Likewise; elements of k.
    pub fn new(k: &TensorView<'a>, v: &TensorView<'a>) -> Self {
        AttentionAppend {
            k: *k,
            v: *v,
            cu_k: None,
            rotary: None,
            k_scale_out: None,
            v_scale_out: None,
        }
    }

    setters! {
        /// (sequences + 1); i32; sequence b has new rows cu_k\[b\] to before cu_k\[b + 1\]; none: those of
        /// its queries.
        view cu_k(&TensorView<'a>) => cu_k;
        /// Rotates the new keys and the queries of the call; leave its q out.
        record rotary(&AppendRotary<'a>) => rotary;
        /// (pages, rows, heads); f32; gets computed scales of a cache of 8 bits, in place of k_scale.
        written k_scale_out(&TensorViewMut<'a>) => k_scale_out;
        /// (pages, rows, heads); f32.
        written v_scale_out(&TensorViewMut<'a>) => v_scale_out;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_attention_append> {
        Ok(sys::kaio_attention_append {
            k: hold.tensor(&self.k),
            v: hold.tensor(&self.v),
            cu_k: hold.optional(&self.cu_k),
            rotary: match &self.rotary { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            k_scale_out: hold.optional(&self.k_scale_out),
            v_scale_out: hold.optional(&self.v_scale_out),
            ..Default::default()
        })
    }
}

/// Options of attention over a cache.
#[derive(Clone, Debug)]
pub struct AttentionDecodeOptions<'a> {
    scale: f32,
    softcap: f32,
    causal: CausalAlignment,
    splits: u32,
    combining: AttentionCombining,
    batch_invariant: bool,
    constant: ConstantInputs,
    window_left: i64,
    window_right: i64,
    max_length: i64,
    qv: Option<TensorView<'a>>,
    alibi: Option<TensorView<'a>>,
    k_scale: Option<TensorView<'a>>,
    v_scale: Option<TensorView<'a>>,
    sinks: Option<TensorView<'a>>,
    lse: Option<TensorView<'a>>,
    append: Option<AttentionAppend<'a>>,
    workspace: Option<TensorView<'a>>,
    variant: Option<String>,
}

impl<'a> AttentionDecodeOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        AttentionDecodeOptions {
            scale: 0.0,
            softcap: 0.0,
            causal: CausalAlignment::None,
            splits: 0,
            combining: AttentionCombining::Automatic,
            batch_invariant: false,
            constant: ConstantInputs(0),
            window_left: -1,
            window_right: -1,
            max_length: 0,
            qv: None,
            alibi: None,
            k_scale: None,
            v_scale: None,
            sinks: None,
            lse: None,
            append: None,
            workspace: None,
            variant: None,
        }
    }

    setters! {
        /// The factor of q . k; 0: 1 / sqrt(head size of q), with qv of both head sizes together.
        value scale(f32) => scale;
        /// Above 0: the score x becomes softcap * tanh(x / softcap).
        value softcap(f32) => softcap;
        /// None or bottom_right.
        value causal(CausalAlignment) => causal;
        /// Parts of the keys, 1 to 256; 0: chosen.
        value splits(u32) => splits;
        /// How the splits of a sequence's keys are added up.
        value combining(AttentionCombining) => combining;
        /// True: the bits of a sequence do not depend on the other sequences of the call.
        value batch_invariant(bool) => batch_invariant;
        /// indices.
        value constant(ConstantInputs) => constant;
        /// Keys before a query's own one that it attends to; -1: all; default -1.
        value window_left(i64) => window_left;
        /// Keys after its own one; -1: all; causal makes it 0; default -1.
        value window_right(i64) => window_right;
        /// The most keys of a sequence, by which work is divided; 0: the room of the cache.
        value max_length(i64) => max_length;
        /// (B, Sq, Hq, Dv); f32, f16 or bf16; queries that are multiplied with values: the score is scale *
        /// (q . k + qv . v).
        view qv(&TensorView<'a>) => qv;
        /// (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|.
        view alibi(&TensorView<'a>) => alibi;
        /// (1), (heads), (sequences, heads) or (pages, rows, heads); f32; scales of a cache of 8 bits;
        /// none: 1.
        view k_scale(&TensorView<'a>) => k_scale;
        /// As k_scale; f32.
        view v_scale(&TensorView<'a>) => v_scale;
        /// (heads); f32, f16 or bf16; the score of an extra key without a value.
        view sinks(&TensorView<'a>) => sinks;
        /// (batches, heads, queries); (heads, rows) for attention_decode_varlen; f32; gets ln of the sum of
        /// exp(x); -inf without a key.
        written lse(&TensorViewMut<'a>) => lse;
        /// New keys and values; none: none. Lengths of the cache are those before, last_page_len those
        /// after.
        record append(&AttentionAppend<'a>) => append;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => variant;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_attention_decode_options> {
        Ok(sys::kaio_attention_decode_options {
            scale: self.scale,
            softcap: self.softcap,
            causal: self.causal as i32,
            splits: self.splits,
            combining: self.combining as i32,
            batch_invariant: i32::from(self.batch_invariant),
            constant: self.constant.0,
            window_left: self.window_left,
            window_right: self.window_right,
            max_length: self.max_length,
            qv: hold.optional(&self.qv),
            alibi: hold.optional(&self.alibi),
            k_scale: hold.optional(&self.k_scale),
            v_scale: hold.optional(&self.v_scale),
            sinks: hold.optional(&self.sinks),
            lse: hold.optional(&self.lse),
            append: match &self.append { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            workspace: hold.optional(&self.workspace),
            variant: hold.text("variant", &self.variant)?,
            ..Default::default()
        })
    }
}

impl<'a> Default for AttentionDecodeOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Attention of few queries over a cache of keys and values: decode steps, speculative steps, chunks of a
/// prompt.
///
/// n queries are the last n keys of a sequence. Lengths and tables are read when the kernels run: a
/// captured call may be replayed with others. Made for Sq from 1 to 128; D and Dv are up to 512.
///
/// For multi-head latent attention, cache.v is the first elements of the rows of cache.k.
///
/// # Arguments
///
/// - `q`: (B, Sq, Hq, D); f32, f16 or bf16.
/// - `cache`: A cache of keys and values: contiguous without table and indptr, or in pages. Key j of
///   sequence b is row j % rows of page table\[b\]\[j / rows\], or of page indices\[indptr\[b\] + j /
///   rows\]. All of it is in device memory, and is read when a call runs.
/// - `out`: written; (B, Sq, Hq, Dv); f32, f16 or bf16; elements of q, or f32.
///
/// Nothing happens before `run`. Options are methods of [`AttentionDecode`].
pub fn attention_decode<'a>(
    q: &TensorView<'a>,
    cache: &KvCache<'a>,
    out: &TensorViewMut<'a>,
) -> AttentionDecode<'a> {
    AttentionDecode {
        q: *q,
        cache: cache.clone(),
        out: **out,
        options: AttentionDecodeOptions::new(),
    }
}

/// The operation `attention_decode`: see the function [`attention_decode`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct AttentionDecode<'a> {
    q: TensorView<'a>,
    cache: KvCache<'a>,
    out: TensorView<'a>,
    options: AttentionDecodeOptions<'a>,
}

impl<'a> AttentionDecode<'a> {
    /// All options at once.
    pub fn options(mut self, options: &AttentionDecodeOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// The factor of q . k; 0: 1 / sqrt(head size of q), with qv of both head sizes together.
        value scale(f32) => options.scale;
        /// Above 0: the score x becomes softcap * tanh(x / softcap).
        value softcap(f32) => options.softcap;
        /// None or bottom_right.
        value causal(CausalAlignment) => options.causal;
        /// Parts of the keys, 1 to 256; 0: chosen.
        value splits(u32) => options.splits;
        /// How the splits of a sequence's keys are added up.
        value combining(AttentionCombining) => options.combining;
        /// True: the bits of a sequence do not depend on the other sequences of the call.
        value batch_invariant(bool) => options.batch_invariant;
        /// indices.
        value constant(ConstantInputs) => options.constant;
        /// Keys before a query's own one that it attends to; -1: all; default -1.
        value window_left(i64) => options.window_left;
        /// Keys after its own one; -1: all; causal makes it 0; default -1.
        value window_right(i64) => options.window_right;
        /// The most keys of a sequence, by which work is divided; 0: the room of the cache.
        value max_length(i64) => options.max_length;
        /// (B, Sq, Hq, Dv); f32, f16 or bf16; queries that are multiplied with values: the score is scale *
        /// (q . k + qv . v).
        view qv(&TensorView<'a>) => options.qv;
        /// (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|.
        view alibi(&TensorView<'a>) => options.alibi;
        /// (1), (heads), (sequences, heads) or (pages, rows, heads); f32; scales of a cache of 8 bits;
        /// none: 1.
        view k_scale(&TensorView<'a>) => options.k_scale;
        /// As k_scale; f32.
        view v_scale(&TensorView<'a>) => options.v_scale;
        /// (heads); f32, f16 or bf16; the score of an extra key without a value.
        view sinks(&TensorView<'a>) => options.sinks;
        /// (batches, heads, queries); (heads, rows) for attention_decode_varlen; f32; gets ln of the sum of
        /// exp(x); -inf without a key.
        written lse(&TensorViewMut<'a>) => options.lse;
        /// New keys and values; none: none. Lengths of the cache are those before, last_page_len those
        /// after.
        record append(&AttentionAppend<'a>) => options.append;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => options.workspace;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_decode(stream.handle(), hold.tensor(&self.q), hold.keep(self.cache.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_decode_warmup(hold.tensor(&self.q), hold.keep(self.cache.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call takes; 0 if no second kernel runs.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_attention_decode_workspace_bytes(hold.tensor(&self.q), hold.keep(self.cache.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?), &mut bytes))?;
        Ok(bytes)
    }

    /// The kernel that the call runs, and the number of splits of its keys.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_attention_decode_choice(hold.tensor(&self.q), hold.keep(self.cache.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, with several numbers of splits, and remembers the
    /// fastest. Waits for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_attention_decode(hold.tensor(&self.q), hold.keep(self.cache.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?), hold.keep(how.raw(&hold)?), &mut
            raw))?;
        TuneReport::from_raw(&raw)
    }
}

/// attention_decode for sequences with different numbers of queries, which follow each other along the rows
/// of q.
///
/// sequences has cu_q and max_q alone. Rows of no sequence are not written.
///
/// # Arguments
///
/// - `q`: (rows, Hq, D); f32, f16 or bf16.
/// - `cache`: A cache of keys and values: contiguous without table and indptr, or in pages. Key j of
///   sequence b is row j % rows of page table\[b\]\[j / rows\], or of page indices\[indptr\[b\] + j /
///   rows\]. All of it is in device memory, and is read when a call runs.
/// - `out`: written; (rows, Hq, Dv); f32, f16 or bf16; elements of q, or f32.
/// - `sequences`: Sequences that follow each other along the rows of a tensor. Sequence b has rows
///   cu_q\[b\] to before cu_q\[b + 1\] of q. The device reads these numbers when the call runs.
///
/// Nothing happens before `run`. Options are methods of [`AttentionDecodeVarlen`].
pub fn attention_decode_varlen<'a>(
    q: &TensorView<'a>,
    cache: &KvCache<'a>,
    out: &TensorViewMut<'a>,
    sequences: &AttentionSequences<'a>,
) -> AttentionDecodeVarlen<'a> {
    AttentionDecodeVarlen {
        q: *q,
        cache: cache.clone(),
        out: **out,
        sequences: sequences.clone(),
        options: AttentionDecodeOptions::new(),
    }
}

/// The operation `attention_decode_varlen`: see the function [`attention_decode_varlen`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct AttentionDecodeVarlen<'a> {
    q: TensorView<'a>,
    cache: KvCache<'a>,
    out: TensorView<'a>,
    sequences: AttentionSequences<'a>,
    options: AttentionDecodeOptions<'a>,
}

impl<'a> AttentionDecodeVarlen<'a> {
    /// All options at once.
    pub fn options(mut self, options: &AttentionDecodeOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// The factor of q . k; 0: 1 / sqrt(head size of q), with qv of both head sizes together.
        value scale(f32) => options.scale;
        /// Above 0: the score x becomes softcap * tanh(x / softcap).
        value softcap(f32) => options.softcap;
        /// None or bottom_right.
        value causal(CausalAlignment) => options.causal;
        /// Parts of the keys, 1 to 256; 0: chosen.
        value splits(u32) => options.splits;
        /// How the splits of a sequence's keys are added up.
        value combining(AttentionCombining) => options.combining;
        /// True: the bits of a sequence do not depend on the other sequences of the call.
        value batch_invariant(bool) => options.batch_invariant;
        /// indices.
        value constant(ConstantInputs) => options.constant;
        /// Keys before a query's own one that it attends to; -1: all; default -1.
        value window_left(i64) => options.window_left;
        /// Keys after its own one; -1: all; causal makes it 0; default -1.
        value window_right(i64) => options.window_right;
        /// The most keys of a sequence, by which work is divided; 0: the room of the cache.
        value max_length(i64) => options.max_length;
        /// (B, Sq, Hq, Dv); f32, f16 or bf16; queries that are multiplied with values: the score is scale *
        /// (q . k + qv . v).
        view qv(&TensorView<'a>) => options.qv;
        /// (heads) or (batches, heads); f32; slopes: x -= slope * |query + keys - queries - key|.
        view alibi(&TensorView<'a>) => options.alibi;
        /// (1), (heads), (sequences, heads) or (pages, rows, heads); f32; scales of a cache of 8 bits;
        /// none: 1.
        view k_scale(&TensorView<'a>) => options.k_scale;
        /// As k_scale; f32.
        view v_scale(&TensorView<'a>) => options.v_scale;
        /// (heads); f32, f16 or bf16; the score of an extra key without a value.
        view sinks(&TensorView<'a>) => options.sinks;
        /// (batches, heads, queries); (heads, rows) for attention_decode_varlen; f32; gets ln of the sum of
        /// exp(x); -inf without a key.
        written lse(&TensorViewMut<'a>) => options.lse;
        /// New keys and values; none: none. Lengths of the cache are those before, last_page_len those
        /// after.
        record append(&AttentionAppend<'a>) => options.append;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => options.workspace;
        /// The kernel to run, as `choice` names it; none: the best one.
        text variant(&str) => options.variant;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_decode_varlen(stream.handle(), hold.tensor(&self.q),
            hold.keep(self.cache.raw(&hold)?), hold.tensor(&self.out), hold.keep(self.sequences.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_attention_decode_varlen_warmup(hold.tensor(&self.q), hold.keep(self.cache.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.sequences.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call takes; 0 if no second kernel runs.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_attention_decode_varlen_workspace_bytes(hold.tensor(&self.q),
            hold.keep(self.cache.raw(&hold)?), hold.keep(self.sequences.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?), &mut bytes))?;
        Ok(bytes)
    }

    /// The kernel that the call runs, and the number of splits of its keys.
    pub fn choice(&self) -> Result<KernelChoice> {
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        call!(kaio_attention_decode_varlen_choice(hold.tensor(&self.q), hold.keep(self.cache.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.sequences.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?), &mut raw))?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, as if all sequences had equally many queries. Waits for
    /// the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        call!(kaio_tune_attention_decode_varlen(hold.tensor(&self.q), hold.keep(self.cache.raw(&hold)?),
            hold.tensor(&self.out), hold.keep(self.sequences.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?), hold.keep(how.raw(&hold)?), &mut raw))?;
        TuneReport::from_raw(&raw)
    }
}
