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

    /// (rows); i64 or u64; needed, unless `temperature` is 0 for all rows.
    pub fn seed(mut self, seed: &TensorView<'a>) -> Self {
        self.seed = Some(*seed);
        self
    }

    /// (rows); i64 or u64; with seed; two draws differ if their offsets do.
    pub fn offset(mut self, offset: &TensorView<'a>) -> Self {
        self.offset = Some(*offset);
        self
    }

    /// (rows); i64 or u64; gets offset + 1; may be offset itself.
    pub fn offset_out(mut self, offset_out: &TensorViewMut<'a>) -> Self {
        self.offset_out = Some(**offset_out);
        self
    }

    /// 0: the largest logit; default 1.0.
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = temperature;
        self
    }

    /// 0 or below, or the vocabulary or more: all tokens.
    pub fn top_k(mut self, top_k: i32) -> Self {
        self.top_k = top_k;
        self
    }

    /// 0 to 1; 1: all tokens; default 1.0.
    pub fn top_p(mut self, top_p: f32) -> Self {
        self.top_p = top_p;
        self
    }

    /// 0 to 1; 0: all tokens.
    pub fn min_p(mut self, min_p: f32) -> Self {
        self.min_p = min_p;
        self
    }

    /// (rows); f32.
    pub fn temperatures(mut self, temperatures: &TensorView<'a>) -> Self {
        self.temperatures = Some(*temperatures);
        self
    }

    /// (rows); i32.
    pub fn top_ks(mut self, top_ks: &TensorView<'a>) -> Self {
        self.top_ks = Some(*top_ks);
        self
    }

    /// (rows); f32.
    pub fn top_ps(mut self, top_ps: &TensorView<'a>) -> Self {
        self.top_ps = Some(*top_ps);
        self
    }

    /// (rows); f32.
    pub fn min_ps(mut self, min_ps: &TensorView<'a>) -> Self {
        self.min_ps = Some(*min_ps);
        self
    }

    /// (rows); f32; gets the log-probability of the token in softmax(logits / temperature).
    pub fn logprobs(mut self, logprobs: &TensorViewMut<'a>) -> Self {
        self.logprobs = Some(**logprobs);
        self
    }

    /// (rows); f32; gets log(sum of exp(logits / temperature)).
    pub fn lse(mut self, lse: &TensorViewMut<'a>) -> Self {
        self.lse = Some(**lse);
        self
    }

    /// (1); i32; the number of rows with NaN, or without a logit above -inf, is added.
    pub fn invalid_rows(mut self, invalid_rows: &TensorViewMut<'a>) -> Self {
        self.invalid_rows = Some(**invalid_rows);
        self
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
pub fn sample<'a>(logits: &TensorView<'a>, tokens: &TensorViewMut<'a>, options: &SampleOptions<'a>) -> Sample<'a> {
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
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_sample)(
                stream.handle(),
                hold.tensor(&self.logits),
                hold.tensor(&self.tokens),
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
            (functions.kaio_sample_warmup)(
                hold.tensor(&self.logits),
                hold.tensor(&self.tokens),
                hold.keep(self.options.raw(&hold)?),
            )
        };
        check(functions, status)
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
        let functions = functions()?;
        let hold = Hold::new();
        // SAFETY: what the call points to lives in `self` and `hold`.
        let status = unsafe {
            (functions.kaio_top_k)(
                stream.handle(),
                hold.tensor(&self.x),
                hold.tensor(&self.values),
                hold.tensor(&self.indices),
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
            (functions.kaio_top_k_warmup)(
                hold.tensor(&self.x),
                hold.tensor(&self.values),
                hold.tensor(&self.indices),
            )
        };
        check(functions, status)
    }
}
