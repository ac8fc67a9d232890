// Made by bindings/rust/generate.py from src/c/operations/distributed.json.
//! Ranks that compute together.

use super::*;
use crate::call::*;

/// How the rows of a sequence are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(i32)]
pub enum ContextLayout {
    /// The r-th of as many pieces as there are ranks.
    Contiguous = 0,
    /// Rank r has pieces r and 2 x ranks - 1 - r of 2 x ranks pieces, of each packed sequence.
    Zigzag = 1,
}

impl ContextLayout {
    pub(crate) fn from_raw(raw: i32) -> Result<ContextLayout> {
        match raw {
            0 => Ok(ContextLayout::Contiguous),
            1 => Ok(ContextLayout::Zigzag),
            other => Err(Error::internal(format!("kaio: {} is no ContextLayout that this crate knows", other))),
        }
    }
}

/// Options of a group of ranks.
#[derive(Clone, Debug)]
pub struct CommunicatorOptions {
    time_limit: f64,
    staging_bytes: u64,
    compare: bool,
}

impl CommunicatorOptions {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        CommunicatorOptions {
            time_limit: 60.0,
            staging_bytes: 8388608,
            compare: true,
        }
    }

    setters! {
        /// Seconds that a call waits for the other ranks; default 60.0.
        value time_limit(f64) => time_limit;
        /// Device memory of each rank that sums pass through; default 8388608.
        value staging_bytes(u64) => staging_bytes;
        /// NCCL: 1: the host compares each call with those of the other ranks; default true.
        value compare(bool) => compare;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_communicator_options> {
        Ok(sys::kaio_communicator_options {
            time_limit: self.time_limit,
            staging_bytes: self.staging_bytes,
            compare: i32::from(self.compare),
            ..Default::default()
        })
    }
}

impl Default for CommunicatorOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Options of an attention over ranks.
#[derive(Clone, Debug)]
pub struct ContextAttentionOptions<'a> {
    scale: f32,
    softcap: f32,
    causal: CausalAlignment,
    layout: ContextLayout,
    window_left: i64,
    window_right: i64,
    sinks: Option<TensorView<'a>>,
    lse: Option<TensorView<'a>>,
    head_ranks: i32,
    workspace: Option<TensorView<'a>>,
    lengths: Vec<i64>,
    dsinks: Option<TensorView<'a>>,
}

impl<'a> ContextAttentionOptions<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        ContextAttentionOptions {
            scale: 0.0,
            softcap: 0.0,
            causal: CausalAlignment::None,
            layout: ContextLayout::Zigzag,
            window_left: -1,
            window_right: -1,
            sinks: None,
            lse: None,
            head_ranks: 1,
            workspace: None,
            lengths: Vec::new(),
            dsinks: None,
        }
    }

    setters! {
        /// The factor of q . k; 0: 1 / sqrt(head size of q).
        value scale(f32) => scale;
        /// Above 0: the score x becomes softcap * tanh(x / softcap).
        value softcap(f32) => softcap;
        /// Both alignments agree here.
        value causal(CausalAlignment) => causal;
        /// How the rows of a sequence are divided.
        value layout(ContextLayout) => layout;
        /// Keys before a query's own one that it attends to; -1: all; default -1.
        value window_left(i64) => window_left;
        /// Keys after its own one; -1: all; causal makes it 0; default -1.
        value window_right(i64) => window_right;
        /// (heads); f32, f16 or bf16; the score of an extra key without a value.
        view sinks(&TensorView<'a>) => sinks;
        /// (batches, heads, rows); f32; gets ln of the sum of exp(x); not written by gradients.
        written lse(&TensorViewMut<'a>) => lse;
        /// Ranks that exchange heads for rows; divides the ranks and the heads of k; default 1.
        value head_ranks(i32) => head_ranks;
        /// Needed: `workspace_bytes`, or of the gradients, at a multiple of 256 bytes.
        written workspace(&TensorViewMut<'a>) => workspace;
        /// Rows of packed sequences, host memory, equal on all ranks; batches is then 1; none: one
        /// sequence.
        list lengths(&[i64]) => lengths;
        /// (heads); f32, f16 or bf16; written by the gradients, equal on all ranks; takes workspace; none:
        /// not wanted.
        written dsinks(&TensorViewMut<'a>) => dsinks;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_context_attention_options> {
        Ok(sys::kaio_context_attention_options {
            scale: self.scale,
            softcap: self.softcap,
            causal: self.causal as i32,
            layout: self.layout as i32,
            window_left: self.window_left,
            window_right: self.window_right,
            sinks: hold.optional(&self.sinks),
            lse: hold.optional(&self.lse),
            head_ranks: self.head_ranks,
            workspace: hold.optional(&self.workspace),
            lengths: list(&self.lengths),
            length_count: self.lengths.len() as u64,
            dsinks: hold.optional(&self.dsinks),
            ..Default::default()
        })
    }
}

impl<'a> Default for ContextAttentionOptions<'a> {
    fn default() -> Self {
        Self::new()
    }
}
