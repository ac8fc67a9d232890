#pragma once
// The parameters of attention_backward's kernels, in addition to the forward's attention_problem: the
// gradients, and the numbers of each query that the first kernel leaves in the workspace.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/attention/common/problem.hpp>
#include <kaio/ops/attention/common/terms.hpp>

namespace kaio::ops {

// Extents and strides of the bias's gradient: strides in elements, 0 along extents of 1.
struct attention_bias_gradient {
  u64 address;  // 0: not wanted
  i64 batch, head, query, key;
  u32 batches, heads, queries, keys;  // 1 or the extent of the scores
  u32 type;                           // element_type
  u32 direct;                         // 1: one element per score, written together with dq
};

struct attention_gradients {
  attention_strides dout, dq, dk, dv;  // address 0: not wanted
  // One number per query, (tensor batch, head, row) without gaps:
  u64 shifts;  // f32: lse as an exponent of two; +inf for a query without keys
  u64 deltas;  // f32: sum of dO * O, less the gradient of its lse
  u64 dlse;    // the address of f32; 0: none
  i64 dlse_batch, dlse_head, dlse_row;
  u64 dsinks;  // 0: not wanted
  i64 dsink_head;
  attention_bias_gradient dbias;
  u32 type, out_type, dsinks_type;  // element_type of q, k, v, dout, dq, dk and dv; of out; of dsinks
  u32 q_rows;                       // per batch of the tensor
  u32 key_tiles;                    // per head of K
  u32 key_heads;
  u32 leading_key_heads;  // like attention_problem::leading_heads
  // Flags of the kernels with matrix instructions, one u32 per block of 64 rows: whether the multiply-add
  // kernels have to compute it again. 0: no flags.
  u64 key_flags, query_flags;
  u32 flag_key_tiles, flag_query_tiles, flag_key_parts, flag_query_parts;
  u32 batches;  // attention_problem::batches
  // For the kernels for sm_90a (turns.hpp): ticket and turns, u32; sums of dq, f32. 0: none.
  u64 turns, dq_sums;
  u32 dq_tiles;       // tiles of 64 queries per head; packed: of all batches together
  u32 heads_at_once;  // heads of K that take turns in the order of tiles; at least 1
  u32 turn_words;     // u32 of the ticket and the turns
  u32 dq_groups;      // of a head's tiles of keys: a power of two; each group has sums of its own
  u32 group_tiles;    // tiles of 64 queries of all heads: the distance of the sums of two groups
  u32 query_parts;    // blocks that share the queries of a tile of keys (sm90/parts.hpp)
  u32 sum_key_tiles;  // tiles of 64 keys per head in part_sums
  u32 sum_depth;      // columns of dk, and of dv, in part_sums
  u32 all_resident;   // 1: all blocks of the launch run at once
  u64 part_sums;      // f32: sums of dk and dv of each part, if there are several
};

}  // namespace kaio::ops
