// Made by bindings/rust/generate.py from src/c/operations/block_mask.json.
//! Block masks.

use super::*;
use crate::call::*;

/// Where a block mask is written: Qb = ceil(queries / block_queries), Kb = ceil(keys / block_keys). The
/// last dimension may have more room. Each pair of tensors may be left out; without the full ones, full
/// blocks are listed as partial.
#[derive(Clone, Debug)]
pub struct BlockMaskOutput<'a> {
    block_queries: i64,
    block_keys: i64,
    kv_num_blocks: Option<TensorView<'a>>,
    kv_indices: Option<TensorView<'a>>,
    full_kv_num_blocks: Option<TensorView<'a>>,
    full_kv_indices: Option<TensorView<'a>>,
    q_num_blocks: Option<TensorView<'a>>,
    q_indices: Option<TensorView<'a>>,
    full_q_num_blocks: Option<TensorView<'a>>,
    full_q_indices: Option<TensorView<'a>>,
}

impl<'a> BlockMaskOutput<'a> {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        BlockMaskOutput {
            block_queries: 128,
            block_keys: 128,
            kv_num_blocks: None,
            kv_indices: None,
            full_kv_num_blocks: None,
            full_kv_indices: None,
            q_num_blocks: None,
            q_indices: None,
            full_q_num_blocks: None,
            full_q_indices: None,
        }
    }

    setters! {
        /// Queries of a block; default 128.
        value block_queries(i64) => block_queries;
        /// Keys of a block; default 128.
        value block_keys(i64) => block_keys;
        /// (B', H', Qb); i32; how many blocks of keys the mask keeps in part.
        written kv_num_blocks(&TensorViewMut<'a>) => kv_num_blocks;
        /// (B', H', Qb, Kb); i32; which blocks.
        written kv_indices(&TensorViewMut<'a>) => kv_indices;
        /// (B', H', Qb); i32; how many it keeps as a whole.
        written full_kv_num_blocks(&TensorViewMut<'a>) => full_kv_num_blocks;
        /// (B', H', Qb, Kb); i32; which blocks.
        written full_kv_indices(&TensorViewMut<'a>) => full_kv_indices;
        /// (B', H', Kb); i32; how many blocks of queries visit a block of keys, in part.
        written q_num_blocks(&TensorViewMut<'a>) => q_num_blocks;
        /// (B', H', Kb, Qb); i32; which blocks.
        written q_indices(&TensorViewMut<'a>) => q_indices;
        /// (B', H', Kb); i32; how many as a whole.
        written full_q_num_blocks(&TensorViewMut<'a>) => full_q_num_blocks;
        /// (B', H', Kb, Qb); i32; which blocks.
        written full_q_indices(&TensorViewMut<'a>) => full_q_indices;
    }

    pub(crate) fn raw(&self, hold: &Hold) -> Result<sys::kaio_block_mask_output> {
        Ok(sys::kaio_block_mask_output {
            block_queries: self.block_queries,
            block_keys: self.block_keys,
            kv_num_blocks: hold.optional(&self.kv_num_blocks),
            kv_indices: hold.optional(&self.kv_indices),
            full_kv_num_blocks: hold.optional(&self.full_kv_num_blocks),
            full_kv_indices: hold.optional(&self.full_kv_indices),
            q_num_blocks: hold.optional(&self.q_num_blocks),
            q_indices: hold.optional(&self.q_indices),
            full_q_num_blocks: hold.optional(&self.full_q_num_blocks),
            full_q_indices: hold.optional(&self.full_q_indices),
            ..Default::default()
        })
    }
}

impl<'a> Default for BlockMaskOutput<'a> {
    fn default() -> Self {
        Self::new()
    }
}

/// The mask: queries and keys of a head, and which keys a query attends to, as in attention_options.
#[derive(Clone, Debug)]
pub struct BlockMaskOptions {
    causal: CausalAlignment,
    queries: i64,
    keys: i64,
    window_left: i64,
    window_right: i64,
}

impl BlockMaskOptions {
    /// Everything that is not set has its default.
    pub fn new() -> Self {
        BlockMaskOptions {
            causal: CausalAlignment::None,
            queries: 0,
            keys: 0,
            window_left: -1,
            window_right: -1,
        }
    }

    setters! {
        /// Whether a query attends to no later keys, and where its own key is. With as many keys as
        /// queries, both alignments agree.
        value causal(CausalAlignment) => causal;
        /// Per head, as the attention will have them.
        value queries(i64) => queries;
        /// Per head.
        value keys(i64) => keys;
        /// Keys before a query's own one that it attends to; -1: all; default -1.
        value window_left(i64) => window_left;
        /// Keys after its own one; -1: all; causal makes it 0; default -1.
        value window_right(i64) => window_right;
    }

    pub(crate) fn raw(&self, _hold: &Hold) -> Result<sys::kaio_block_mask_options> {
        Ok(sys::kaio_block_mask_options {
            causal: self.causal as i32,
            queries: self.queries,
            keys: self.keys,
            window_left: self.window_left,
            window_right: self.window_right,
            ..Default::default()
        })
    }
}

impl Default for BlockMaskOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Makes the block mask of a causal mask or a window on the device.
///
/// Lists are in order. Numbers after a count are not written. Masks of other kinds are made by the caller,
/// or in C++ by make_block_mask.
///
/// # Arguments
///
/// - `device`: Where the call runs.
/// - `output`: Where a block mask is written: Qb = ceil(queries / block_queries), Kb = ceil(keys /
///   block_keys). The last dimension may have more room. Each pair of tensors may be left out; without the
///   full ones, full blocks are listed as partial.
/// - `options`: The mask: queries and keys of a head, and which keys a query attends to, as in
///   attention_options.
///
/// Nothing happens before `run`. Options are methods of [`MakeBlockMask`].
pub fn make_block_mask<'a>(
    device: &Device,
    output: &BlockMaskOutput<'a>,
    options: &BlockMaskOptions,
) -> MakeBlockMask<'a> {
    MakeBlockMask {
        device: *device,
        output: output.clone(),
        options: options.clone(),
    }
}

/// The operation `make_block_mask`: see the function [`make_block_mask`].
#[must_use = "an operation happens when `run` is called"]
#[derive(Clone, Debug)]
pub struct MakeBlockMask<'a> {
    device: Device,
    output: BlockMaskOutput<'a>,
    options: BlockMaskOptions,
}

impl<'a> MakeBlockMask<'a> {
    /// Queues the work.
    pub fn run(&self, stream: &Stream) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_make_block_mask(stream.handle(), self.device.raw(), hold.keep(self.output.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?)))
    }

    /// Loads what the call launches: its first run then takes no longer than others, and may be captured
    /// into a graph.
    pub fn warmup(&self) -> Result<()> {
        let hold = Hold::new();
        call!(kaio_make_block_mask_warmup(self.device.raw(), hold.keep(self.output.raw(&hold)?),
            hold.keep(self.options.raw(&hold)?)))
    }
}
