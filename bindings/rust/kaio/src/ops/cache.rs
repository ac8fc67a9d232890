// Made by bindings/rust/generate.py from src/c/operations/cache.json.
//! Caches of keys and values, rotary embedding.

use super::*;
use crate::call::*;

/// How frequencies change for sequences longer than a model was trained on: rope_type of a config.json.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum RotaryScalingKind {
    /// none.
    None = 0,
    /// linear.
    Linear = 1,
    /// dynamic.
    Dynamic = 2,
    /// yarn.
    Yarn = 3,
    /// longrope.
    Longrope = 4,
    /// llama3.
    Llama3 = 5,
    /// proportional.
    Proportional = 6,
}

impl RotaryScalingKind {
    pub(crate) fn from_raw(raw: i32) -> Result<RotaryScalingKind> {
        match raw {
            0 => Ok(RotaryScalingKind::None),
            1 => Ok(RotaryScalingKind::Linear),
            2 => Ok(RotaryScalingKind::Dynamic),
            3 => Ok(RotaryScalingKind::Yarn),
            4 => Ok(RotaryScalingKind::Longrope),
            5 => Ok(RotaryScalingKind::Llama3),
            6 => Ok(RotaryScalingKind::Proportional),
            other => Err(Error::internal(format!("kaio: {} is no RotaryScalingKind that this crate knows", other))),
        }
    }
}

/// A cache of keys and values: contiguous without table and indptr, or in pages. Key j of sequence b is row
/// j % rows of page table\[b\]\[j / rows\], or of page indices\[indptr\[b\] + j / rows\]. All of it is in
/// device memory, and is read when a call runs.
#[derive(Clone, Debug)]
pub struct KvCache<'a> {
    k: TensorView<'a>,
    v: TensorView<'a>,
    table: Option<TensorView<'a>>,
    indptr: Option<TensorView<'a>>,
    indices: Option<TensorView<'a>>,
    lengths: Option<TensorView<'a>>,
    last_page_len: Option<TensorView<'a>>,
    batch_index: Option<TensorView<'a>>,
    left_padding: Option<TensorView<'a>>,
}

impl<'a> KvCache<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `k`: (pages or batches, rows, heads, size); f32, f16, bf16, e4m3, e5m2 or i8; the last stride is
    ///   1.
    /// - `v`: As k; the size may differ; elements of k.
    pub fn new(k: &TensorView<'a>, v: &TensorView<'a>) -> Self {
        KvCache {
            k: *k,
            v: *v,
            table: None,
            indptr: None,
            indices: None,
            lengths: None,
            last_page_len: None,
            batch_index: None,
            left_padding: None,
        }
    }

    setters! {
        /// (sequences, most pages of one); i32; page numbers.
        view table(&TensorView<'a>) => table;
        /// (sequences + 1); i32; in place of table, with indices.
        view indptr(&TensorView<'a>) => indptr;
        /// (pages of all sequences); i32; page numbers.
        view indices(&TensorView<'a>) => indices;
        /// (sequences); i32; keys of each; none: all rows.
        view lengths(&TensorView<'a>) => lengths;
        /// (sequences); i32; with indptr, in place of lengths: rows of the last page.
        view last_page_len(&TensorView<'a>) => last_page_len;
        /// (sequences); i32; contiguous: the batch of each; none: its own number.
        view batch_index(&TensorView<'a>) => batch_index;
        /// (sequences); i32; keys before this one do not exist, but their positions count.
        view left_padding(&TensorView<'a>) => left_padding;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_kv_cache> {
        Ok(sys::kaio_kv_cache {
            k: hold.tensor(&self.k),
            v: hold.tensor(&self.v),
            table: hold.optional(&self.table),
            indptr: hold.optional(&self.indptr),
            indices: hold.optional(&self.indices),
            lengths: hold.optional(&self.lengths),
            last_page_len: hold.optional(&self.last_page_len),
            batch_index: hold.optional(&self.batch_index),
            left_padding: hold.optional(&self.left_padding),
            ..Default::default()
        })
    }
}

/// The rotation of new keys, and of queries, in the launch that appends.
#[derive(Clone, Debug)]
pub struct AppendRotary<'a> {
    interleaved: bool,
    q_at_first: bool,
    cos: TensorView<'a>,
    sin: TensorView<'a>,
    positions: Option<TensorView<'a>>,
    q: Option<TensorView<'a>>,
    q_out: Option<TensorView<'a>>,
}

impl<'a> AppendRotary<'a> {
    /// Everything that is not set has its default.
    ///
    /// - `cos`: (positions, pairs); f32, f16 or bf16.
    /// - `sin`: As cos; elements of cos.
    pub fn new(cos: &TensorView<'a>, sin: &TensorView<'a>) -> Self {
        AppendRotary {
            interleaved: false,
            q_at_first: false,
            cos: *cos,
            sin: *sin,
            positions: None,
            q: None,
            q_out: None,
        }
    }

    setters! {
        /// True: pairs (0, 1), (2, 3), ..., as in GPT-J; false: (0, P), (1, P + 1), ..., as in Llama.
        value interleaved(bool) => interleaved;
        /// True: all queries of a sequence are rotated as the first new token.
        value q_at_first(bool) => q_at_first;
        /// (tokens) or (batches, tokens); i32 or i64; none: the number of the token's key, less
        /// left_padding.
        view positions(&TensorView<'a>) => positions;
        /// As k, with heads of its own; f32, f16 or bf16; elements of k.
        view q(&TensorView<'a>) => q;
        /// As q; elements of q; may be q itself.
        written q_out(&TensorViewMut<'a>) => q_out;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_append_rotary> {
        Ok(sys::kaio_append_rotary {
            interleaved: i32::from(self.interleaved),
            q_at_first: i32::from(self.q_at_first),
            cos: hold.tensor(&self.cos),
            sin: hold.tensor(&self.sin),
            positions: hold.optional(&self.positions),
            q: hold.optional(&self.q),
            q_out: hold.optional(&self.q_out),
            ..Default::default()
        })
    }
}

/// Options of append_kv and append_kv_varlen.
#[derive(Clone, Debug)]
pub struct AppendKvOptions<'a> {
    constant: ConstantInputs,
    cu_seqlens: Option<TensorView<'a>>,
    slots: Option<TensorView<'a>>,
    rotary: Option<AppendRotary<'a>>,
    k_scale: Option<TensorView<'a>>,
    v_scale: Option<TensorView<'a>>,
    k_scale_out: Option<TensorView<'a>>,
    v_scale_out: Option<TensorView<'a>>,
}

impl<'a> AppendKvOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        AppendKvOptions {
            constant: ConstantInputs(0),
            cu_seqlens: None,
            slots: None,
            rotary: None,
            k_scale: None,
            v_scale: None,
            k_scale_out: None,
            v_scale_out: None,
        }
    }

    setters! {
        /// indices.
        value constant(ConstantInputs) => constant;
        /// (sequences + 1); i32; append_kv_varlen: sequence b has new tokens cu_seqlens\[b\] to before
        /// cu_seqlens\[b + 1\].
        view cu_seqlens(&TensorView<'a>) => cu_seqlens;
        /// (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each
        /// token, over all pages; below 0: skipped.
        view slots(&TensorView<'a>) => slots;
        /// None: no rotation.
        record rotary(&AppendRotary<'a>) => rotary;
        /// (1), (heads), (sequences, heads) or (pages, rows, heads); f32; given scales of a cache of 8
        /// bits; none: 1.
        view k_scale(&TensorView<'a>) => k_scale;
        /// As k_scale; f32.
        view v_scale(&TensorView<'a>) => v_scale;
        /// (pages, rows, heads); f32; gets computed scales, one for each row of a head.
        written k_scale_out(&TensorViewMut<'a>) => k_scale_out;
        /// (pages, rows, heads); f32.
        written v_scale_out(&TensorViewMut<'a>) => v_scale_out;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_append_kv_options> {
        Ok(sys::kaio_append_kv_options {
            constant: self.constant.0,
            cu_seqlens: hold.optional(&self.cu_seqlens),
            slots: hold.optional(&self.slots),
            rotary: match &self.rotary { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            k_scale: hold.optional(&self.k_scale),
            v_scale: hold.optional(&self.v_scale),
            k_scale_out: hold.optional(&self.k_scale_out),
            v_scale_out: hold.optional(&self.v_scale_out),
            ..Default::default()
        })
    }
}

impl<'a> Default for AppendKvOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of gather_kv and gather_kv_varlen.
#[derive(Clone, Debug)]
pub struct GatherKvOptions<'a> {
    cu_seqlens: Option<TensorView<'a>>,
    k_scale: Option<TensorView<'a>>,
    v_scale: Option<TensorView<'a>>,
}

impl<'a> GatherKvOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        GatherKvOptions {
            cu_seqlens: None,
            k_scale: None,
            v_scale: None,
        }
    }

    setters! {
        /// (sequences + 1); i32; gather_kv_varlen: sequence b goes to rows cu_seqlens\[b\] to before
        /// cu_seqlens\[b + 1\].
        view cu_seqlens(&TensorView<'a>) => cu_seqlens;
        /// (1), (heads) or (pages, rows, heads); f32; scales of a cache of 8 bits that is read as f32, f16
        /// or bf16; none: 1.
        view k_scale(&TensorView<'a>) => k_scale;
        /// As k_scale; f32.
        view v_scale(&TensorView<'a>) => v_scale;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_gather_kv_options> {
        Ok(sys::kaio_gather_kv_options {
            cu_seqlens: hold.optional(&self.cu_seqlens),
            k_scale: hold.optional(&self.k_scale),
            v_scale: hold.optional(&self.v_scale),
            ..Default::default()
        })
    }
}

impl<'a> Default for GatherKvOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of rotary and rotary_varlen.
#[derive(Clone, Debug)]
pub struct RotaryOptions<'a> {
    interleaved: bool,
    inverse: bool,
    positions: Option<TensorView<'a>>,
    offsets: Option<TensorView<'a>>,
    cu_seqlens: Option<TensorView<'a>>,
}

impl<'a> RotaryOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        RotaryOptions {
            interleaved: false,
            inverse: false,
            positions: None,
            offsets: None,
            cu_seqlens: None,
        }
    }

    setters! {
        /// True: pairs (0, 1), (2, 3), ..., as in GPT-J; false: (0, P), (1, P + 1), ..., as in Llama.
        value interleaved(bool) => interleaved;
        /// True: rotates by the negative angles.
        value inverse(bool) => inverse;
        /// (tokens) or (batches, tokens); i32 or i64; none: token i of a sequence is at position i.
        view positions(&TensorView<'a>) => positions;
        /// (sequences); i32; added to the positions 0, 1, ...; not with positions.
        view offsets(&TensorView<'a>) => offsets;
        /// (sequences + 1); i32; for rotary_varlen.
        view cu_seqlens(&TensorView<'a>) => cu_seqlens;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_rotary_options> {
        Ok(sys::kaio_rotary_options {
            interleaved: i32::from(self.interleaved),
            inverse: i32::from(self.inverse),
            positions: hold.optional(&self.positions),
            offsets: hold.optional(&self.offsets),
            cu_seqlens: hold.optional(&self.cu_seqlens),
            ..Default::default()
        })
    }
}

impl<'a> Default for RotaryOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Parameters of a kind of scaling, as rope_parameters of a config.json has them. Those of other kinds are
/// not read.
#[derive(Clone, Debug)]
pub struct RotaryScaling {
    kind: RotaryScalingKind,
    truncate: bool,
    factor: f64,
    low_frequency: f64,
    high_frequency: f64,
    original_length: f64,
    beta_fast: f64,
    beta_slow: f64,
    attention_factor: f64,
    mscale: f64,
    mscale_all_dim: f64,
    length: f64,
    rotated: f64,
    pair_factors: Vec<f64>,
}

impl RotaryScaling {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        RotaryScaling {
            kind: RotaryScalingKind::None,
            truncate: true,
            factor: 1.0,
            low_frequency: 1.0,
            high_frequency: 4.0,
            original_length: 0.0,
            beta_fast: 32.0,
            beta_slow: 1.0,
            attention_factor: 0.0,
            mscale: 0.0,
            mscale_all_dim: 0.0,
            length: 0.0,
            rotated: 1.0,
            pair_factors: Vec::new(),
        }
    }

    setters! {
        /// How frequencies change for sequences longer than a model was trained on: rope_type of a
        /// config.json.
        value kind(RotaryScalingKind) => kind;
        /// Yarn: 1: the ramp begins and ends at whole pairs; default true.
        value truncate(bool) => truncate;
        /// Factor; default 1.0.
        value factor(f64) => factor;
        /// llama3: low_freq_factor; default 1.0.
        value low_frequency(f64) => low_frequency;
        /// llama3: high_freq_factor; default 4.0.
        value high_frequency(f64) => high_frequency;
        /// original_max_position_embeddings; dynamic: max_position_embeddings.
        value original_length(f64) => original_length;
        /// Yarn; default 32.0.
        value beta_fast(f64) => beta_fast;
        /// Yarn; default 1.0.
        value beta_slow(f64) => beta_slow;
        /// Yarn, longrope: the factor of cos and sin; 0: computed.
        value attention_factor(f64) => attention_factor;
        /// yarn.
        value mscale(f64) => mscale;
        /// yarn.
        value mscale_all_dim(f64) => mscale_all_dim;
        /// Dynamic: the longest sequence that the table is for.
        value length(f64) => length;
        /// Proportional: partial_rotary_factor; default 1.0.
        value rotated(f64) => rotated;
        /// Longrope: short_factor or long_factor, host memory.
        list pair_factors(&[f64]) => pair_factors;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_rotary_scaling> {
        Ok(sys::kaio_rotary_scaling {
            kind: self.kind as i32,
            truncate: i32::from(self.truncate),
            factor: self.factor,
            low_frequency: self.low_frequency,
            high_frequency: self.high_frequency,
            original_length: self.original_length,
            beta_fast: self.beta_fast,
            beta_slow: self.beta_slow,
            attention_factor: self.attention_factor,
            mscale: self.mscale,
            mscale_all_dim: self.mscale_all_dim,
            length: self.length,
            rotated: self.rotated,
            pair_factors: list(&self.pair_factors),
            pair_factor_count: self.pair_factors.len() as u64,
            ..Default::default()
        })
    }
}

impl Default for RotaryScaling {
    fn default() -> Self {
        Self::new()
    }
}

/// Which position turns a pair, for tokens with several positions: mrope_section of a config.json.
#[derive(Clone, Debug)]
pub struct RotarySections {
    interleaved: bool,
    pairs: Vec<u32>,
}

impl RotarySections {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        RotarySections {
            interleaved: false,
            pairs: Vec::new(),
        }
    }

    setters! {
        /// True: sections alternate, as in Qwen3-VL.
        value interleaved(bool) => interleaved;
        /// The pairs of each section, host memory.
        list pairs(&[u32]) => pairs;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_rotary_sections> {
        Ok(sys::kaio_rotary_sections {
            interleaved: i32::from(self.interleaved),
            pairs: list(&self.pairs),
            pair_count: self.pairs.len() as u64,
            ..Default::default()
        })
    }
}

impl Default for RotarySections {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of rotary_table.
#[derive(Clone, Debug)]
pub struct RotaryTableOptions<'a> {
    base: f64,
    first_position: i64,
    positions: Option<TensorView<'a>>,
    scaling: Option<RotaryScaling>,
    sections: Option<RotarySections>,
}

impl<'a> RotaryTableOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        RotaryTableOptions {
            base: 10000.0,
            first_position: 0,
            positions: None,
            scaling: None,
            sections: None,
        }
    }

    setters! {
        /// rope_theta; default 10000.0.
        value base(f64) => base;
        /// The position of row 0.
        value first_position(i64) => first_position;
        /// (rows), or (A, rows) with sections; i32 or i64; the position of each row, in place of
        /// first_position and those after it.
        view positions(&TensorView<'a>) => positions;
        /// None: none.
        record scaling(&RotaryScaling) => scaling;
        /// None: tokens have one position.
        record sections(&RotarySections) => sections;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_rotary_table_options> {
        Ok(sys::kaio_rotary_table_options {
            base: self.base,
            first_position: self.first_position,
            positions: hold.optional(&self.positions),
            scaling: match &self.scaling { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            sections: match &self.sections { Some(record) => hold.keep(record.raw(hold)?), None => std::ptr::null() },
            ..Default::default()
        })
    }
}

impl<'a> Default for RotaryTableOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes new keys and values into a cache, rotated by position and quantised to 8 bits on the way if
/// wanted.
///
/// Token i of sequence b becomes key lengths\[b\] + i; lengths are not changed. last_page_len counts the
/// new tokens already. Tokens without a place in the cache are not written.
///
/// # Arguments
///
/// - `k`: (B, S, Hkv, D); f32, f16 or bf16.
/// - `v`: (B, S, Hkv, Dv); elements of k.
/// - `cache`: written; A cache of keys and values: contiguous without table and indptr, or in pages. Key j
///   of sequence b is row j % rows of page table\[b\]\[j / rows\], or of page indices\[indptr\[b\] + j /
///   rows\]. All of it is in device memory, and is read when a call runs.
///
/// Nothing happens before `run`. Options are methods of [`AppendKv`].
pub fn append_kv<'a>(k: &TensorView<'a>, v: &TensorView<'a>, cache: &KvCache<'a>) -> AppendKv<'a> {
    AppendKv {
        k: *k,
        v: *v,
        cache: cache.clone(),
        options: AppendKvOptions::new(),
    }
}

/// The operation `append_kv`: see the function [`append_kv`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct AppendKv<'a> {
    k: TensorView<'a>,
    v: TensorView<'a>,
    cache: KvCache<'a>,
    options: AppendKvOptions<'a>,
}

impl<'a> AppendKv<'a> {
    /// All options at once.
    pub fn options(mut self, options: &AppendKvOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// indices.
        value constant(ConstantInputs) => options.constant;
        /// (sequences + 1); i32; append_kv_varlen: sequence b has new tokens cu_seqlens\[b\] to before
        /// cu_seqlens\[b + 1\].
        view cu_seqlens(&TensorView<'a>) => options.cu_seqlens;
        /// (tokens) or (batches, tokens); i32 or i64; in place of the numbers of the cache: the row of each
        /// token, over all pages; below 0: skipped.
        view slots(&TensorView<'a>) => options.slots;
        /// None: no rotation.
        record rotary(&AppendRotary<'a>) => options.rotary;
        /// (1), (heads), (sequences, heads) or (pages, rows, heads); f32; given scales of a cache of 8
        /// bits; none: 1.
        view k_scale(&TensorView<'a>) => options.k_scale;
        /// As k_scale; f32.
        view v_scale(&TensorView<'a>) => options.v_scale;
        /// (pages, rows, heads); f32; gets computed scales, one for each row of a head.
        written k_scale_out(&TensorViewMut<'a>) => options.k_scale_out;
        /// (pages, rows, heads); f32.
        written v_scale_out(&TensorViewMut<'a>) => options.v_scale_out;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_append_kv(stream.handle(), hold.tensor(&self.k), hold.tensor(&self.v),
            hold.keep(self.cache.raw(&hold)?), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_append_kv_warmup(hold.tensor(&self.k), hold.tensor(&self.v),
            hold.keep(self.cache.raw(&hold)?), hold.keep(self.options.raw(&hold)?)))
    }
}

/// append_kv for the new tokens of all sequences, which follow each other, by options.cu_seqlens or
/// options.slots.
///
/// # Arguments
///
/// - `k`: (tokens, Hkv, D); f32, f16 or bf16.
/// - `v`: (tokens, Hkv, Dv); elements of k.
/// - `cache`: written; A cache of keys and values: contiguous without table and indptr, or in pages. Key j
///   of sequence b is row j % rows of page table\[b\]\[j / rows\], or of page indices\[indptr\[b\] + j /
///   rows\]. All of it is in device memory, and is read when a call runs.
/// - `options`: Options of append_kv and append_kv_varlen.
///
/// Nothing happens before `run`. Options are methods of [`AppendKvVarlen`].
pub fn append_kv_varlen<'a>(
    k: &TensorView<'a>,
    v: &TensorView<'a>,
    cache: &KvCache<'a>,
    options: &AppendKvOptions<'a>,
) -> AppendKvVarlen<'a> {
    AppendKvVarlen {
        k: *k,
        v: *v,
        cache: cache.clone(),
        options: options.clone(),
    }
}

/// The operation `append_kv_varlen`: see the function [`append_kv_varlen`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct AppendKvVarlen<'a> {
    k: TensorView<'a>,
    v: TensorView<'a>,
    cache: KvCache<'a>,
    options: AppendKvOptions<'a>,
}

impl<'a> AppendKvVarlen<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_append_kv_varlen(stream.handle(), hold.tensor(&self.k), hold.tensor(&self.v),
            hold.keep(self.cache.raw(&hold)?), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_append_kv_varlen_warmup(hold.tensor(&self.k), hold.tensor(&self.v),
            hold.keep(self.cache.raw(&hold)?), hold.keep(self.options.raw(&hold)?)))
    }
}

/// Gathers the rows of sequences out of a cache.
///
/// Key i of sequence b goes to (b, i). Rows beyond a sequence's length, in its left padding and without a
/// page are not written.
///
/// # Arguments
///
/// - `cache`: A cache of keys and values: contiguous without table and indptr, or in pages. Key j of
///   sequence b is row j % rows of page table\[b\]\[j / rows\], or of page indices\[indptr\[b\] + j /
///   rows\]. All of it is in device memory, and is read when a call runs.
/// - `k`: written; (B, S, Hkv, D); f32, f16, bf16, e4m3, e5m2 or i8; elements of the cache; of a cache of 8
///   bits also f32, f16 or bf16.
/// - `v`: written; (B, S, Hkv, Dv); elements of k.
///
/// Nothing happens before `run`. Options are methods of [`GatherKv`].
pub fn gather_kv<'a>(cache: &KvCache<'a>, k: &TensorViewMut<'a>, v: &TensorViewMut<'a>) -> GatherKv<'a> {
    GatherKv {
        cache: cache.clone(),
        k: **k,
        v: **v,
        options: GatherKvOptions::new(),
    }
}

/// The operation `gather_kv`: see the function [`gather_kv`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct GatherKv<'a> {
    cache: KvCache<'a>,
    k: TensorView<'a>,
    v: TensorView<'a>,
    options: GatherKvOptions<'a>,
}

impl<'a> GatherKv<'a> {
    /// All options at once.
    pub fn options(mut self, options: &GatherKvOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (sequences + 1); i32; gather_kv_varlen: sequence b goes to rows cu_seqlens\[b\] to before
        /// cu_seqlens\[b + 1\].
        view cu_seqlens(&TensorView<'a>) => options.cu_seqlens;
        /// (1), (heads) or (pages, rows, heads); f32; scales of a cache of 8 bits that is read as f32, f16
        /// or bf16; none: 1.
        view k_scale(&TensorView<'a>) => options.k_scale;
        /// As k_scale; f32.
        view v_scale(&TensorView<'a>) => options.v_scale;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gather_kv(stream.handle(), hold.keep(self.cache.raw(&hold)?), hold.tensor(&self.k),
            hold.tensor(&self.v), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gather_kv_warmup(hold.keep(self.cache.raw(&hold)?), hold.tensor(&self.k),
            hold.tensor(&self.v), hold.keep(self.options.raw(&hold)?)))
    }
}

/// gather_kv into rows that follow each other, by options.cu_seqlens.
///
/// # Arguments
///
/// - `cache`: A cache of keys and values: contiguous without table and indptr, or in pages. Key j of
///   sequence b is row j % rows of page table\[b\]\[j / rows\], or of page indices\[indptr\[b\] + j /
///   rows\]. All of it is in device memory, and is read when a call runs.
/// - `k`: written; (rows, Hkv, D); f32, f16, bf16, e4m3, e5m2 or i8; elements of the cache; of a cache of 8
///   bits also f32, f16 or bf16.
/// - `v`: written; (rows, Hkv, Dv); elements of k.
/// - `options`: Options of gather_kv and gather_kv_varlen.
///
/// Nothing happens before `run`. Options are methods of [`GatherKvVarlen`].
pub fn gather_kv_varlen<'a>(
    cache: &KvCache<'a>,
    k: &TensorViewMut<'a>,
    v: &TensorViewMut<'a>,
    options: &GatherKvOptions<'a>,
) -> GatherKvVarlen<'a> {
    GatherKvVarlen {
        cache: cache.clone(),
        k: **k,
        v: **v,
        options: options.clone(),
    }
}

/// The operation `gather_kv_varlen`: see the function [`gather_kv_varlen`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct GatherKvVarlen<'a> {
    cache: KvCache<'a>,
    k: TensorView<'a>,
    v: TensorView<'a>,
    options: GatherKvOptions<'a>,
}

impl<'a> GatherKvVarlen<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gather_kv_varlen(stream.handle(), hold.keep(self.cache.raw(&hold)?), hold.tensor(&self.k),
            hold.tensor(&self.v), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_gather_kv_varlen_warmup(hold.keep(self.cache.raw(&hold)?), hold.tensor(&self.k),
            hold.tensor(&self.v), hold.keep(self.options.raw(&hold)?)))
    }
}

/// Copies pages within a cache, for a sequence that forks.
///
/// Pairs with a number that no page has are skipped. No page may be written twice, or read by one pair and
/// written by another.
///
/// # Arguments
///
/// - `pages`: written; (pages, rows, heads, size) or (layers, pages, rows, heads, size); f32, f16, bf16,
///   e4m3, e5m2, i8, u8, e8m0, i16, u16, i32 or u32.
/// - `pairs`: (copies, 2); i32; the page that is read, the page that is written.
///
/// Nothing happens before `run`. Options are methods of [`CopyPages`].
pub fn copy_pages<'a>(pages: &TensorViewMut<'a>, pairs: &TensorView<'a>) -> CopyPages<'a> {
    CopyPages {
        pages: **pages,
        pairs: *pairs,
    }
}

/// The operation `copy_pages`: see the function [`copy_pages`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct CopyPages<'a> {
    pages: TensorView<'a>,
    pairs: TensorView<'a>,
}

impl<'a> CopyPages<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_copy_pages(stream.handle(), hold.tensor(&self.pages), hold.tensor(&self.pairs)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_copy_pages_warmup(hold.tensor(&self.pages), hold.tensor(&self.pairs)))
    }
}

/// Rotary position embedding: turns each pair of elements of a head by the angle of its position.
///
/// y0 = x0 cos - x1 sin, y1 = x1 cos + x0 sin, in f32, rounded once. Elements 0 to 2 P - 1 of each head are
/// rotated, the rest is copied.
///
/// # Arguments
///
/// - `x`: (B, S, H, D); f32, f16 or bf16.
/// - `out`: written; as x; elements of x; may be x itself.
/// - `cos`: (positions, P); f32, f16 or bf16; 2 P \<= D \<= 512.
/// - `sin`: As cos; elements of cos.
///
/// Nothing happens before `run`. Options are methods of [`Rotary`].
pub fn rotary<'a>(
    x: &TensorView<'a>,
    out: &TensorViewMut<'a>,
    cos: &TensorView<'a>,
    sin: &TensorView<'a>,
) -> Rotary<'a> {
    Rotary {
        x: *x,
        out: **out,
        cos: *cos,
        sin: *sin,
        options: RotaryOptions::new(),
    }
}

/// The operation `rotary`: see the function [`rotary`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Rotary<'a> {
    x: TensorView<'a>,
    out: TensorView<'a>,
    cos: TensorView<'a>,
    sin: TensorView<'a>,
    options: RotaryOptions<'a>,
}

impl<'a> Rotary<'a> {
    /// All options at once.
    pub fn options(mut self, options: &RotaryOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// True: pairs (0, 1), (2, 3), ..., as in GPT-J; false: (0, P), (1, P + 1), ..., as in Llama.
        value interleaved(bool) => options.interleaved;
        /// True: rotates by the negative angles.
        value inverse(bool) => options.inverse;
        /// (tokens) or (batches, tokens); i32 or i64; none: token i of a sequence is at position i.
        view positions(&TensorView<'a>) => options.positions;
        /// (sequences); i32; added to the positions 0, 1, ...; not with positions.
        view offsets(&TensorView<'a>) => options.offsets;
        /// (sequences + 1); i32; for rotary_varlen.
        view cu_seqlens(&TensorView<'a>) => options.cu_seqlens;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rotary(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.out),
            hold.tensor(&self.cos), hold.tensor(&self.sin), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rotary_warmup(hold.tensor(&self.x), hold.tensor(&self.out), hold.tensor(&self.cos),
            hold.tensor(&self.sin), hold.keep(self.options.raw(&hold)?)))
    }
}

/// Rotary for the tokens of all sequences, by options.cu_seqlens or options.positions.
///
/// # Arguments
///
/// - `x`: (tokens, H, D); f32, f16 or bf16.
/// - `out`: written; as x; elements of x; may be x itself.
/// - `cos`: (positions, P); f32, f16 or bf16; 2 P \<= D \<= 512.
/// - `sin`: As cos; elements of cos.
/// - `options`: Options of rotary and rotary_varlen.
///
/// Nothing happens before `run`. Options are methods of [`RotaryVarlen`].
pub fn rotary_varlen<'a>(
    x: &TensorView<'a>,
    out: &TensorViewMut<'a>,
    cos: &TensorView<'a>,
    sin: &TensorView<'a>,
    options: &RotaryOptions<'a>,
) -> RotaryVarlen<'a> {
    RotaryVarlen {
        x: *x,
        out: **out,
        cos: *cos,
        sin: *sin,
        options: options.clone(),
    }
}

/// The operation `rotary_varlen`: see the function [`rotary_varlen`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RotaryVarlen<'a> {
    x: TensorView<'a>,
    out: TensorView<'a>,
    cos: TensorView<'a>,
    sin: TensorView<'a>,
    options: RotaryOptions<'a>,
}

impl<'a> RotaryVarlen<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rotary_varlen(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.out),
            hold.tensor(&self.cos), hold.tensor(&self.sin), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rotary_varlen_warmup(hold.tensor(&self.x), hold.tensor(&self.out), hold.tensor(&self.cos),
            hold.tensor(&self.sin), hold.keep(self.options.raw(&hold)?)))
    }
}

/// The tables of rotary: cos and sin of position * frequency, computed in double precision and rounded
/// once.
///
/// The frequency of pair i of P is base^(-i / P), changed by scaling.
///
/// # Arguments
///
/// - `cos`: written; (positions, P); f32, f16 or bf16.
/// - `sin`: written; as cos; elements of cos.
///
/// Nothing happens before `run`. Options are methods of [`RotaryTable`].
pub fn rotary_table<'a>(cos: &TensorViewMut<'a>, sin: &TensorViewMut<'a>) -> RotaryTable<'a> {
    RotaryTable {
        cos: **cos,
        sin: **sin,
        options: RotaryTableOptions::new(),
    }
}

/// The operation `rotary_table`: see the function [`rotary_table`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct RotaryTable<'a> {
    cos: TensorView<'a>,
    sin: TensorView<'a>,
    options: RotaryTableOptions<'a>,
}

impl<'a> RotaryTable<'a> {
    /// All options at once.
    pub fn options(mut self, options: &RotaryTableOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// rope_theta; default 10000.0.
        value base(f64) => options.base;
        /// The position of row 0.
        value first_position(i64) => options.first_position;
        /// (rows), or (A, rows) with sections; i32 or i64; the position of each row, in place of
        /// first_position and those after it.
        view positions(&TensorView<'a>) => options.positions;
        /// None: none.
        record scaling(&RotaryScaling) => options.scaling;
        /// None: tokens have one position.
        record sections(&RotarySections) => options.sections;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rotary_table(stream.handle(), hold.tensor(&self.cos), hold.tensor(&self.sin),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_rotary_table_warmup(hold.tensor(&self.cos), hold.tensor(&self.sin),
            hold.keep(self.options.raw(&hold)?)))
    }
}
