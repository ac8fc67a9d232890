// Made by bindings/rust/generate.py from src/c/operations/sampling.json.
//! Sampling.

use super::*;
use crate::call::*;

/// Options of sample. A tensor of rows comes before the number for all rows.
#[derive(Clone, Debug)]
pub struct SampleOptions<'a> {
    seed: Option<TensorView<'a>>,
    offset: Option<TensorView<'a>>,
    offset_out: Option<TensorView<'a>>,
    temperature: f32,
    top_k: i32,
    top_p: f32,
    min_p: f32,
    temperatures: Option<TensorView<'a>>,
    top_ks: Option<TensorView<'a>>,
    top_ps: Option<TensorView<'a>>,
    min_ps: Option<TensorView<'a>>,
    logprobs: Option<TensorView<'a>>,
    lse: Option<TensorView<'a>>,
    invalid_rows: Option<TensorView<'a>>,
}

impl<'a> SampleOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        SampleOptions {
            seed: None,
            offset: None,
            offset_out: None,
            temperature: 1.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            temperatures: None,
            top_ks: None,
            top_ps: None,
            min_ps: None,
            logprobs: None,
            lse: None,
            invalid_rows: None,
        }
    }

    setters! {
        /// (rows); i64 or u64; needed, unless `temperature` is 0 for all rows.
        view seed(&TensorView<'a>) => seed;
        /// (rows); i64 or u64; with seed; two draws differ if their offsets do.
        view offset(&TensorView<'a>) => offset;
        /// (rows); i64 or u64; gets offset + 1; may be offset itself.
        written offset_out(&TensorViewMut<'a>) => offset_out;
        /// 0: the largest logit; default 1.0.
        value temperature(f32) => temperature;
        /// 0 or below, or the vocabulary or more: all tokens.
        value top_k(i32) => top_k;
        /// 0 to 1; 1: all tokens; default 1.0.
        value top_p(f32) => top_p;
        /// 0 to 1; 0: all tokens.
        value min_p(f32) => min_p;
        /// (rows); f32.
        view temperatures(&TensorView<'a>) => temperatures;
        /// (rows); i32.
        view top_ks(&TensorView<'a>) => top_ks;
        /// (rows); f32.
        view top_ps(&TensorView<'a>) => top_ps;
        /// (rows); f32.
        view min_ps(&TensorView<'a>) => min_ps;
        /// (rows); f32; gets the log-probability of the token in softmax(logits / temperature).
        written logprobs(&TensorViewMut<'a>) => logprobs;
        /// (rows); f32; gets log(sum of exp(logits / temperature)).
        written lse(&TensorViewMut<'a>) => lse;
        /// (1); i32; the number of rows with NaN, or without a logit above -inf, is added.
        written invalid_rows(&TensorViewMut<'a>) => invalid_rows;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_sample_options> {
        Ok(sys::kaio_sample_options {
            seed: hold.optional(&self.seed),
            offset: hold.optional(&self.offset),
            offset_out: hold.optional(&self.offset_out),
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            temperatures: hold.optional(&self.temperatures),
            top_ks: hold.optional(&self.top_ks),
            top_ps: hold.optional(&self.top_ps),
            min_ps: hold.optional(&self.min_ps),
            logprobs: hold.optional(&self.logprobs),
            lse: hold.optional(&self.lse),
            invalid_rows: hold.optional(&self.invalid_rows),
            ..Default::default()
        })
    }
}

impl<'a> Default for SampleOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Draws a token for each row of logits: temperature, top-k, top-p, min-p.
///
/// The draw is Philox-4x32-10 of (seed\[row\], offset\[row\]). A token does not depend on other rows.
///
/// # Arguments
///
/// - `logits`: (rows, vocabulary); f32, f16 or bf16.
/// - `tokens`: written; (rows); i32 or i64.
/// - `options`: Options of sample. A tensor of rows comes before the number for all rows.
///
/// Nothing happens before `run`. Options are methods of [`Sample`].
pub fn sample<'a>(
    logits: &TensorView<'a>,
    tokens: &TensorViewMut<'a>,
    options: &SampleOptions<'a>,
) -> Sample<'a> {
    Sample {
        logits: *logits,
        tokens: **tokens,
        options: options.clone(),
    }
}

/// The operation `sample`: see the function [`sample`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    logits: TensorView<'a>,
    tokens: TensorView<'a>,
    options: SampleOptions<'a>,
}

impl<'a> Sample<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_sample(stream.handle(), hold.tensor(&self.logits), hold.tensor(&self.tokens),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_sample_warmup(hold.tensor(&self.logits), hold.tensor(&self.tokens),
            hold.keep(self.options.raw(&hold)?)))
    }
}

/// The k largest elements of each row and their indices, the largest first; of equal ones the lower index
/// first.
///
/// k is the last extent of values and indices, at most 1024. NaN counts as -inf.
///
/// # Arguments
///
/// - `x`: (rows, size); f32, f16 or bf16.
/// - `values`: written; (rows, k); elements of x.
/// - `indices`: written; (rows, k); i32 or i64.
///
/// Nothing happens before `run`. Options are methods of [`TopK`].
pub fn top_k<'a>(x: &TensorView<'a>, values: &TensorViewMut<'a>, indices: &TensorViewMut<'a>) -> TopK<'a> {
    TopK {
        x: *x,
        values: **values,
        indices: **indices,
    }
}

/// The operation `top_k`: see the function [`top_k`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct TopK<'a> {
    x: TensorView<'a>,
    values: TensorView<'a>,
    indices: TensorView<'a>,
}

impl<'a> TopK<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_top_k(stream.handle(), hold.tensor(&self.x), hold.tensor(&self.values),
            hold.tensor(&self.indices)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_top_k_warmup(hold.tensor(&self.x), hold.tensor(&self.values), hold.tensor(&self.indices)))
    }
}
