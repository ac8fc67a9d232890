// Made by bindings/rust/generate.py from src/c/operations/sampling.json.
//! Sampling and mixtures of experts.

use super::*;
use crate::call::*;

/// How topk_router makes scores of logits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum RouterScore {
    /// softmax.
    Softmax = 0,
    /// sigmoid.
    Sigmoid = 1,
}

impl RouterScore {
    pub(crate) fn from_raw(raw: i32) -> Result<RouterScore> {
        match raw {
            0 => Ok(RouterScore::Softmax),
            1 => Ok(RouterScore::Sigmoid),
            other => Err(Error::internal(format!("kaio: {} is no RouterScore that this crate knows", other))),
        }
    }
}

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

/// Options of topk_router. Experts are in `groups` groups of neighbours; only those of the `kept_groups`
/// best groups are chosen.
#[derive(Clone, Debug)]
pub struct TopkRouterOptions<'a> {
    score: RouterScore,
    bias: Option<TensorView<'a>>,
    groups: i32,
    kept_groups: i32,
    group_by_best_two: bool,
    renormalise: bool,
    factor: f32,
}

impl<'a> TopkRouterOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        TopkRouterOptions {
            score: RouterScore::Softmax,
            bias: None,
            groups: 1,
            kept_groups: 1,
            group_by_best_two: true,
            renormalise: false,
            factor: 1.0,
        }
    }

    setters! {
        /// How topk_router makes scores of logits.
        value score(RouterScore) => score;
        /// (experts); f32; added to scores to choose, not to weights.
        view bias(&TensorView<'a>) => bias;
        /// 1 to 32, of equal size; default 1.
        value groups(i32) => groups;
        /// 1 to groups; default 1.
        value kept_groups(i32) => kept_groups;
        /// True: a group's score is the sum of its best two scores with bias; false: its best one; default
        /// true.
        value group_by_best_two(bool) => group_by_best_two;
        /// True: divides a token's weights by their sum.
        value renormalise(bool) => renormalise;
        /// Multiplies the weights; finite; default 1.0.
        value factor(f32) => factor;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_topk_router_options> {
        Ok(sys::kaio_topk_router_options {
            score: self.score as i32,
            bias: hold.optional(&self.bias),
            groups: self.groups,
            kept_groups: self.kept_groups,
            group_by_best_two: i32::from(self.group_by_best_two),
            renormalise: i32::from(self.renormalise),
            factor: self.factor,
            ..Default::default()
        })
    }
}

impl<'a> Default for TopkRouterOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of sort_by_expert.
#[derive(Clone, Debug)]
pub struct SortByExpertOptions<'a> {
    counts: Option<TensorView<'a>>,
    tokens: Option<TensorView<'a>>,
    positions: Option<TensorView<'a>>,
    workspace: Option<TensorView<'a>>,
}

impl<'a> SortByExpertOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        SortByExpertOptions {
            counts: None,
            tokens: None,
            positions: None,
            workspace: None,
        }
    }

    setters! {
        /// (experts); i32; rows of each expert.
        written counts(&TensorViewMut<'a>) => counts;
        /// (tokens * k); i32; the token of each sorted row; -1 after the last expert's rows.
        written tokens(&TensorViewMut<'a>) => tokens;
        /// (tokens, k); i32; the sorted row of each choice; -1 if it is left out.
        written positions(&TensorViewMut<'a>) => positions;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_sort_by_expert_options> {
        Ok(sys::kaio_sort_by_expert_options {
            counts: hold.optional(&self.counts),
            tokens: hold.optional(&self.tokens),
            positions: hold.optional(&self.positions),
            workspace: hold.optional(&self.workspace),
            ..Default::default()
        })
    }
}

impl<'a> Default for SortByExpertOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of combine_experts.
#[derive(Clone, Debug)]
pub struct CombineExpertsOptions {
    accumulate: bool,
}

impl CombineExpertsOptions {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        CombineExpertsOptions {
            accumulate: false,
        }
    }

    setters! {
        /// True: adds to out.
        value accumulate(bool) => accumulate;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_combine_experts_options> {
        Ok(sys::kaio_combine_experts_options {
            accumulate: i32::from(self.accumulate),
            ..Default::default()
        })
    }
}

impl Default for CombineExpertsOptions {
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

/// Chooses the k experts of each token with the largest score + bias, and returns their scores as weights.
///
/// k is the last extent of indices and weights, 1 to 32. The largest is first; of equal ones the lower
/// index.
///
/// # Arguments
///
/// - `logits`: (tokens, experts); f32, f16 or bf16.
/// - `indices`: written; (tokens, k); i32.
/// - `weights`: written; (tokens, k); f32.
///
/// Nothing happens before `run`. Options are methods of [`TopkRouter`].
pub fn topk_router<'a>(
    logits: &TensorView<'a>,
    indices: &TensorViewMut<'a>,
    weights: &TensorViewMut<'a>,
) -> TopkRouter<'a> {
    TopkRouter {
        logits: *logits,
        indices: **indices,
        weights: **weights,
        options: TopkRouterOptions::new(),
    }
}

/// The operation `topk_router`: see the function [`topk_router`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct TopkRouter<'a> {
    logits: TensorView<'a>,
    indices: TensorView<'a>,
    weights: TensorView<'a>,
    options: TopkRouterOptions<'a>,
}

impl<'a> TopkRouter<'a> {
    /// All options at once.
    pub fn options(mut self, options: &TopkRouterOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// How topk_router makes scores of logits.
        value score(RouterScore) => options.score;
        /// (experts); f32; added to scores to choose, not to weights.
        view bias(&TensorView<'a>) => options.bias;
        /// 1 to 32, of equal size; default 1.
        value groups(i32) => options.groups;
        /// 1 to groups; default 1.
        value kept_groups(i32) => options.kept_groups;
        /// True: a group's score is the sum of its best two scores with bias; false: its best one; default
        /// true.
        value group_by_best_two(bool) => options.group_by_best_two;
        /// True: divides a token's weights by their sum.
        value renormalise(bool) => options.renormalise;
        /// Multiplies the weights; finite; default 1.0.
        value factor(f32) => options.factor;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_topk_router(stream.handle(), hold.tensor(&self.logits), hold.tensor(&self.indices),
            hold.tensor(&self.weights), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_topk_router_warmup(hold.tensor(&self.logits), hold.tensor(&self.indices),
            hold.tensor(&self.weights), hold.keep(self.options.raw(&hold)?)))
    }
}

/// Sorts the choices of tokens by expert, and by token within an expert.
///
/// The rows of expert e are offsets\[e\] to offsets\[e + 1\] - 1. An index that is no expert is left out.
///
/// # Arguments
///
/// - `indices`: (tokens, k); i32.
/// - `offsets`: written; (experts + 1); i32.
///
/// Nothing happens before `run`. Options are methods of [`SortByExpert`].
pub fn sort_by_expert<'a>(indices: &TensorView<'a>, offsets: &TensorViewMut<'a>) -> SortByExpert<'a> {
    SortByExpert {
        indices: *indices,
        offsets: **offsets,
        options: SortByExpertOptions::new(),
    }
}

/// The operation `sort_by_expert`: see the function [`sort_by_expert`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct SortByExpert<'a> {
    indices: TensorView<'a>,
    offsets: TensorView<'a>,
    options: SortByExpertOptions<'a>,
}

impl<'a> SortByExpert<'a> {
    /// All options at once.
    pub fn options(mut self, options: &SortByExpertOptions<'a>) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// (experts); i32; rows of each expert.
        written counts(&TensorViewMut<'a>) => options.counts;
        /// (tokens * k); i32; the token of each sorted row; -1 after the last expert's rows.
        written tokens(&TensorViewMut<'a>) => options.tokens;
        /// (tokens, k); i32; the sorted row of each choice; -1 if it is left out.
        written positions(&TensorViewMut<'a>) => options.positions;
        /// `workspace_bytes`, at a multiple of 16 bytes.
        written workspace(&TensorViewMut<'a>) => options.workspace;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_sort_by_expert(stream.handle(), hold.tensor(&self.indices), hold.tensor(&self.offsets),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_sort_by_expert_warmup(hold.tensor(&self.indices), hold.tensor(&self.offsets),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// The bytes of workspace that the call needs: 0 for at most 2048 choices.
    pub fn workspace_bytes(&self) -> Result<u64> {
        let hold = Hold::new();
        let mut bytes = 0;
        call!(kaio_sort_by_expert_workspace_bytes(hold.tensor(&self.indices), hold.tensor(&self.offsets), &mut
            bytes))?;
        Ok(bytes)
    }
}

/// out\[token, :\] = the sum of weights\[token, j\] * y\[positions\[token, j\], :\] over all j.
///
/// Sums are f32, in the order of j, and are rounded once. A position that is no row of y adds nothing.
///
/// # Arguments
///
/// - `y`: (rows, size); f32, f16 or bf16.
/// - `weights`: (tokens, k); f32.
/// - `positions`: (tokens, k); i32.
/// - `out`: written; (tokens, size); f32, f16 or bf16; the type of y, or f32.
///
/// Nothing happens before `run`. Options are methods of [`CombineExperts`].
pub fn combine_experts<'a>(
    y: &TensorView<'a>,
    weights: &TensorView<'a>,
    positions: &TensorView<'a>,
    out: &TensorViewMut<'a>,
) -> CombineExperts<'a> {
    CombineExperts {
        y: *y,
        weights: *weights,
        positions: *positions,
        out: **out,
        options: CombineExpertsOptions::new(),
    }
}

/// The operation `combine_experts`: see the function [`combine_experts`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct CombineExperts<'a> {
    y: TensorView<'a>,
    weights: TensorView<'a>,
    positions: TensorView<'a>,
    out: TensorView<'a>,
    options: CombineExpertsOptions,
}

impl<'a> CombineExperts<'a> {
    /// All options at once.
    pub fn options(mut self, options: &CombineExpertsOptions) -> Self {
        self.options = options.clone();
        self
    }

    setters! {
        /// True: adds to out.
        value accumulate(bool) => options.accumulate;
    }

    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_combine_experts(stream.handle(), hold.tensor(&self.y), hold.tensor(&self.weights),
            hold.tensor(&self.positions), hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_combine_experts_warmup(hold.tensor(&self.y), hold.tensor(&self.weights),
            hold.tensor(&self.positions), hold.tensor(&self.out), hold.keep(self.options.raw(&hold)?)))
    }
}
