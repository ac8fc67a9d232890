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
    /// - `k`: Needed; (batches, tokens, heads, size); f32, f16 or bf16; (tokens, heads, size) for
    ///   attention_decode_varlen, or with cu_k.
    /// - `v`: Needed; likewise; elements of k.
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

    /// (sequences + 1); i32; sequence b has new rows cu_k\[b\] to before cu_k\[b + 1\]; none: those of its
    /// queries.
    pub fn cu_k(mut self, cu_k: &TensorView<'a>) -> Self {
        self.cu_k = Some(*cu_k);
        self
    }

    /// Rotates the new keys and the queries of the call; leave its q out.
    pub fn rotary(mut self, rotary: &AppendRotary<'a>) -> Self {
        self.rotary = Some(rotary.clone());
        self
    }

    /// (pages, rows, heads); f32; gets computed scales of a cache of 8 bits, in place of k_scale.
    pub fn k_scale_out(mut self, k_scale_out: &TensorViewMut<'a>) -> Self {
        self.k_scale_out = Some(**k_scale_out);
        self
    }

    /// (pages, rows, heads); f32.
    pub fn v_scale_out(mut self, v_scale_out: &TensorViewMut<'a>) -> Self {
        self.v_scale_out = Some(**v_scale_out);
        self
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

    /// The factor of q . k; 0: 1 / sqrt(head size of q), with qv of both head sizes together.
    pub fn scale(mut self, scale: f32) -> Self {
        self.scale = scale;
        self
    }

    /// Above 0: the score x becomes softcap \* tanh(x / softcap).
    pub fn softcap(mut self, softcap: f32) -> Self {
        self.softcap = softcap;
        self
    }

    /// None or bottom_right.
    pub fn causal(mut self, causal: CausalAlignment) -> Self {
        self.causal = causal;
        self
    }

    /// Of the keys, 1 to 256; 0: chosen.
    pub fn splits(mut self, splits: u32) -> Self {
        self.splits = splits;
        self
    }

    /// How the splits of a sequence's keys are added up.
    pub fn combining(mut self, combining: AttentionCombining) -> Self {
        self.combining = combining;
        self
    }

    /// True: the bits of a sequence do not depend on the other sequences of the call.
    pub fn batch_invariant(mut self, batch_invariant: bool) -> Self {
        self.batch_invariant = batch_invariant;
        self
    }

    /// indices.
    pub fn constant(mut self, constant: ConstantInputs) -> Self {
        self.constant = constant;
        self
    }

    /// Keys before a query's own one that it attends to; -1: all; default -1.
    pub fn window_left(mut self, window_left: i64) -> Self {
        self.window_left = window_left;
        self
    }

    /// Keys after its own one; -1: all; causal makes it 0; default -1.
    pub fn window_right(mut self, window_right: i64) -> Self {
        self.window_right = window_right;
        self
    }

    /// The most keys of a sequence, by which work is divided; 0: the room of the cache.
    pub fn max_length(mut self, max_length: i64) -> Self {
        self.max_length = max_length;
        self
    }

    /// (B, Sq, Hq, Dv); f32, f16 or bf16; queries that are multiplied with values: the score is scale \* (q
    /// . k + qv . v).
    pub fn qv(mut self, qv: &TensorView<'a>) -> Self {
        self.qv = Some(*qv);
        self
    }

    /// (heads) or (batches, heads); f32; slopes: x -= slope \* |query + keys - queries - key|.
    pub fn alibi(mut self, alibi: &TensorView<'a>) -> Self {
        self.alibi = Some(*alibi);
        self
    }

    /// (1), (heads), (sequences, heads) or (pages, rows, heads); f32; scales of a cache of 8 bits; none: 1.
    pub fn k_scale(mut self, k_scale: &TensorView<'a>) -> Self {
        self.k_scale = Some(*k_scale);
        self
    }

    /// As k_scale; f32.
    pub fn v_scale(mut self, v_scale: &TensorView<'a>) -> Self {
        self.v_scale = Some(*v_scale);
        self
    }

    /// (heads); f32, f16 or bf16; the score of an extra key without a value.
    pub fn sinks(mut self, sinks: &TensorView<'a>) -> Self {
        self.sinks = Some(*sinks);
        self
    }

    /// (batches, heads, queries); (heads, rows) for attention_decode_varlen; f32; gets ln of the sum of
    /// exp(x); -inf without a key.
    pub fn lse(mut self, lse: &TensorViewMut<'a>) -> Self {
        self.lse = Some(**lse);
        self
    }

    /// New keys and values; none: none. Lengths of the cache are those before, last_page_len those after.
    pub fn append(mut self, append: &AttentionAppend<'a>) -> Self {
        self.append = Some(append.clone());
        self
    }

    /// `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.workspace = Some(**workspace);
        self
    }

    /// The kernel to run, as `choice` names it; none: the best one.
    pub fn variant(mut self, variant: &str) -> Self {
        self.variant = Some(variant.to_string());
        self
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
pub fn attention_decode<'a>(q: &TensorView<'a>, cache: &KvCache<'a>, out: &TensorViewMut<'a>) -> AttentionDecode<'a> {
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

    /// The factor of q . k; 0: 1 / sqrt(head size of q), with qv of both head sizes together.
    pub fn scale(mut self, scale: f32) -> Self {
        self.options.scale = scale;
        self
    }

    /// Above 0: the score x becomes softcap \* tanh(x / softcap).
    pub fn softcap(mut self, softcap: f32) -> Self {
        self.options.softcap = softcap;
        self
    }

    /// None or bottom_right.
    pub fn causal(mut self, causal: CausalAlignment) -> Self {
        self.options.causal = causal;
        self
    }

    /// Of the keys, 1 to 256; 0: chosen.
    pub fn splits(mut self, splits: u32) -> Self {
        self.options.splits = splits;
        self
    }

    /// How the splits of a sequence's keys are added up.
    pub fn combining(mut self, combining: AttentionCombining) -> Self {
        self.options.combining = combining;
        self
    }

    /// True: the bits of a sequence do not depend on the other sequences of the call.
    pub fn batch_invariant(mut self, batch_invariant: bool) -> Self {
        self.options.batch_invariant = batch_invariant;
        self
    }

    /// indices.
    pub fn constant(mut self, constant: ConstantInputs) -> Self {
        self.options.constant = constant;
        self
    }

    /// Keys before a query's own one that it attends to; -1: all; default -1.
    pub fn window_left(mut self, window_left: i64) -> Self {
        self.options.window_left = window_left;
        self
    }

    /// Keys after its own one; -1: all; causal makes it 0; default -1.
    pub fn window_right(mut self, window_right: i64) -> Self {
        self.options.window_right = window_right;
        self
    }

    /// The most keys of a sequence, by which work is divided; 0: the room of the cache.
    pub fn max_length(mut self, max_length: i64) -> Self {
        self.options.max_length = max_length;
        self
    }

    /// (B, Sq, Hq, Dv); f32, f16 or bf16; queries that are multiplied with values: the score is scale \* (q
    /// . k + qv . v).
    pub fn qv(mut self, qv: &TensorView<'a>) -> Self {
        self.options.qv = Some(*qv);
        self
    }

    /// (heads) or (batches, heads); f32; slopes: x -= slope \* |query + keys - queries - key|.
    pub fn alibi(mut self, alibi: &TensorView<'a>) -> Self {
        self.options.alibi = Some(*alibi);
        self
    }

    /// (1), (heads), (sequences, heads) or (pages, rows, heads); f32; scales of a cache of 8 bits; none: 1.
    pub fn k_scale(mut self, k_scale: &TensorView<'a>) -> Self {
        self.options.k_scale = Some(*k_scale);
        self
    }

    /// As k_scale; f32.
    pub fn v_scale(mut self, v_scale: &TensorView<'a>) -> Self {
        self.options.v_scale = Some(*v_scale);
        self
    }

    /// (heads); f32, f16 or bf16; the score of an extra key without a value.
    pub fn sinks(mut self, sinks: &TensorView<'a>) -> Self {
        self.options.sinks = Some(*sinks);
        self
    }

    /// (batches, heads, queries); (heads, rows) for attention_decode_varlen; f32; gets ln of the sum of
    /// exp(x); -inf without a key.
    pub fn lse(mut self, lse: &TensorViewMut<'a>) -> Self {
        self.options.lse = Some(**lse);
        self
    }

    /// New keys and values; none: none. Lengths of the cache are those before, last_page_len those after.
    pub fn append(mut self, append: &AttentionAppend<'a>) -> Self {
        self.options.append = Some(append.clone());
        self
    }

    /// `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.options.workspace = Some(**workspace);
        self
    }

    /// The kernel to run, as `choice` names it; none: the best one.
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
            (functions.kaio_attention_decode)(
                stream.handle(),
                hold.tensor(&self.q),
                hold.keep(self.cache.raw(&hold)?),
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
            (functions.kaio_attention_decode_warmup)(
                hold.tensor(&self.q),
                hold.keep(self.cache.raw(&hold)?),
                hold.tensor(&self.out),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// The bytes of workspace that the call takes; 0 if no second kernel runs.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut bytes = 0;
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_attention_decode_workspace_bytes)(
                hold.tensor(&self.q),
                hold.keep(self.cache.raw(&hold)?),
                hold.keep(self.options.raw(&hold)?),
                &mut bytes,
            )
        };
        check(functions, status)?;
        Ok(bytes)
    }

    /// The kernel that the call runs, and the number of splits of its keys.
    pub fn choice(&self) -> Result<KernelChoice> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_attention_decode_choice)(
                hold.tensor(&self.q),
                hold.keep(self.cache.raw(&hold)?),
                hold.tensor(&self.out),
                hold.keep(self.options.raw(&hold)?),
                &mut raw,
            )
        };
        check(functions, status)?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, with several numbers of splits, and remembers the
    /// fastest. Waits for the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_tune_attention_decode)(
                hold.tensor(&self.q),
                hold.keep(self.cache.raw(&hold)?),
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
pub fn attention_decode_varlen<'a>(q: &TensorView<'a>, cache: &KvCache<'a>, out: &TensorViewMut<'a>, sequences: &AttentionSequences<'a>) -> AttentionDecodeVarlen<'a> {
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

    /// The factor of q . k; 0: 1 / sqrt(head size of q), with qv of both head sizes together.
    pub fn scale(mut self, scale: f32) -> Self {
        self.options.scale = scale;
        self
    }

    /// Above 0: the score x becomes softcap \* tanh(x / softcap).
    pub fn softcap(mut self, softcap: f32) -> Self {
        self.options.softcap = softcap;
        self
    }

    /// None or bottom_right.
    pub fn causal(mut self, causal: CausalAlignment) -> Self {
        self.options.causal = causal;
        self
    }

    /// Of the keys, 1 to 256; 0: chosen.
    pub fn splits(mut self, splits: u32) -> Self {
        self.options.splits = splits;
        self
    }

    /// How the splits of a sequence's keys are added up.
    pub fn combining(mut self, combining: AttentionCombining) -> Self {
        self.options.combining = combining;
        self
    }

    /// True: the bits of a sequence do not depend on the other sequences of the call.
    pub fn batch_invariant(mut self, batch_invariant: bool) -> Self {
        self.options.batch_invariant = batch_invariant;
        self
    }

    /// indices.
    pub fn constant(mut self, constant: ConstantInputs) -> Self {
        self.options.constant = constant;
        self
    }

    /// Keys before a query's own one that it attends to; -1: all; default -1.
    pub fn window_left(mut self, window_left: i64) -> Self {
        self.options.window_left = window_left;
        self
    }

    /// Keys after its own one; -1: all; causal makes it 0; default -1.
    pub fn window_right(mut self, window_right: i64) -> Self {
        self.options.window_right = window_right;
        self
    }

    /// The most keys of a sequence, by which work is divided; 0: the room of the cache.
    pub fn max_length(mut self, max_length: i64) -> Self {
        self.options.max_length = max_length;
        self
    }

    /// (B, Sq, Hq, Dv); f32, f16 or bf16; queries that are multiplied with values: the score is scale \* (q
    /// . k + qv . v).
    pub fn qv(mut self, qv: &TensorView<'a>) -> Self {
        self.options.qv = Some(*qv);
        self
    }

    /// (heads) or (batches, heads); f32; slopes: x -= slope \* |query + keys - queries - key|.
    pub fn alibi(mut self, alibi: &TensorView<'a>) -> Self {
        self.options.alibi = Some(*alibi);
        self
    }

    /// (1), (heads), (sequences, heads) or (pages, rows, heads); f32; scales of a cache of 8 bits; none: 1.
    pub fn k_scale(mut self, k_scale: &TensorView<'a>) -> Self {
        self.options.k_scale = Some(*k_scale);
        self
    }

    /// As k_scale; f32.
    pub fn v_scale(mut self, v_scale: &TensorView<'a>) -> Self {
        self.options.v_scale = Some(*v_scale);
        self
    }

    /// (heads); f32, f16 or bf16; the score of an extra key without a value.
    pub fn sinks(mut self, sinks: &TensorView<'a>) -> Self {
        self.options.sinks = Some(*sinks);
        self
    }

    /// (batches, heads, queries); (heads, rows) for attention_decode_varlen; f32; gets ln of the sum of
    /// exp(x); -inf without a key.
    pub fn lse(mut self, lse: &TensorViewMut<'a>) -> Self {
        self.options.lse = Some(**lse);
        self
    }

    /// New keys and values; none: none. Lengths of the cache are those before, last_page_len those after.
    pub fn append(mut self, append: &AttentionAppend<'a>) -> Self {
        self.options.append = Some(append.clone());
        self
    }

    /// `workspace_bytes`, at a multiple of 16 bytes.
    pub fn workspace(mut self, workspace: &TensorViewMut<'a>) -> Self {
        self.options.workspace = Some(**workspace);
        self
    }

    /// The kernel to run, as `choice` names it; none: the best one.
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
            (functions.kaio_attention_decode_varlen)(
                stream.handle(),
                hold.tensor(&self.q),
                hold.keep(self.cache.raw(&hold)?),
                hold.tensor(&self.out),
                hold.keep(self.sequences.raw(&hold)?),
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
            (functions.kaio_attention_decode_varlen_warmup)(
                hold.tensor(&self.q),
                hold.keep(self.cache.raw(&hold)?),
                hold.tensor(&self.out),
                hold.keep(self.sequences.raw(&hold)?),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
    }

    /// The bytes of workspace that the call takes; 0 if no second kernel runs.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut bytes = 0;
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_attention_decode_varlen_workspace_bytes)(
                hold.tensor(&self.q),
                hold.keep(self.cache.raw(&hold)?),
                hold.keep(self.sequences.raw(&hold)?),
                hold.keep(self.options.raw(&hold)?),
                &mut bytes,
            )
        };
        check(functions, status)?;
        Ok(bytes)
    }

    /// The kernel that the call runs, and the number of splits of its keys.
    pub fn choice(&self) -> Result<KernelChoice> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut raw = sys::kaio_kernel_choice::default();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_attention_decode_varlen_choice)(
                hold.tensor(&self.q),
                hold.keep(self.cache.raw(&hold)?),
                hold.tensor(&self.out),
                hold.keep(self.sequences.raw(&hold)?),
                hold.keep(self.options.raw(&hold)?),
                &mut raw,
            )
        };
        check(functions, status)?;
        KernelChoice::from_raw(&raw)
    }

    /// Measures every kernel that can run the call, as if all sequences had equally many queries. Waits for
    /// the device.
    pub fn tune(&self, how: &TuneOptions) -> Result<TuneReport> {
        let functions = functions()?;
        let hold = Hold::new();
        let mut raw = sys::kaio_tune_report::default();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_tune_attention_decode_varlen)(
                hold.tensor(&self.q),
                hold.keep(self.cache.raw(&hold)?),
                hold.tensor(&self.out),
                hold.keep(self.sequences.raw(&hold)?),
                hold.keep(self.options.raw(&hold)?),
                hold.keep(how.raw(&hold)?),
                &mut raw,
            )
        };
        check(functions, status)?;
        TuneReport::from_raw(&raw)
    }
}
