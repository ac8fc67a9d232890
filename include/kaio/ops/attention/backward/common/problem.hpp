#pragma once
// What the kernels of attention_backward take next to the attention_problem of the forward: the gradients,
// and the numbers of each query that a first kernel leaves in the workspace.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/attention/common/problem.hpp>
#include <kaio/ops/attention/common/terms.hpp>

namespace kaio::ops {

// Extents and strides of the bias's gradient: strides in elements, 0 along extents of 1.
struct attention_bias_gradient {
  u64 address;  // 0: it is not wanted
  i64 batch, head, query, key;
  u32 batches, heads, queries, keys;  // 1 or those of the scores
  u32 type;                           // element_type
  u32 direct;                         // 1: of the extents of the scores, and written next to dq
};

struct attention_gradients {
  attention_strides dout, dq, dk, dv;  // address 0: a gradient that is not wanted
  // Of each query, (tensor batch, head, row) without gaps:
  u64 shifts;  // f32: the exponent of two that its scores are from, +inf without keys
  u64 deltas;  // f32: sum of dO * O, less the gradient of its lse
  u64 dlse;    // the address of f32; 0: there is none
  i64 dlse_batch, dlse_head, dlse_row;
  u64 dsinks;  // 0: they are not wanted
  i64 dsink_head;
  attention_bias_gradient dbias;
  u32 type, out_type, dsinks_type;  // element_type: of q, k, v, dout, dq, dk and dv; of out; of dsinks
  u32 q_rows;                       // of the tensor
  u32 key_tiles;                    // of a head of K
  u32 key_heads;
  u32 leading_key_heads;  // as attention_problem::leading_heads
  // Of the kernels with matrix instructions, u32 for each of their blocks: whether it is to be computed again
  // without them. Their tiles have 64 rows. 0: there are none.
  u64 key_flags, query_flags;
  u32 flag_key_tiles, flag_query_tiles, flag_key_parts, flag_query_parts;
  u32 batches;  // those of attention_problem
  // Of the kernels for sm_90a (turns.hpp): tickets and turns, u32; sums of dq, f32. 0: there are none.
  u64 turns, dq_sums;
  u32 dq_tiles;        // of 64 queries: of a head, of all batches where sequences are packed
  u32 heads_together;  // so many heads of K take turns in the order of tiles; at least 1
};

}  // namespace kaio::ops
