#pragma once
// An attention's numbers for its kernels: extents, strides and where the log-sum-exp goes. The caller's
// tensors are (batch, sequence, head, element) by strides; neighbours along the last dimension are adjacent.

#include <kaio/dsl/number/scalar.hpp>

#include <cstdint>

namespace kaio::ops {

// Where the rows of Q, K, V or O begin: the address of the first row, and strides in elements.
struct attention_strides {
  u64 address;
  i64 batch, row, head;
  u32 by_16;   // 1: every row begins at a multiple of 16 bytes, and is a multiple of 16 bytes long
  u32 is_f32;  // O only: 1: O is f32 although the operands have 16 bits
};

// The element types of sinks.
enum class sink_type : u32 { none, f32, f16, bf16 };

struct attention_problem {
  attention_strides q, k, v, o;
  u64 lse;  // address of f32 numbers; 0: not wanted
  i64 lse_batch, lse_head, lse_row;
  u64 sinks;  // address of one number per head
  i64 sink_head;
  u32 sinks_are;  // a sink_type
  // 1: sequences of different lengths follow each other along the rows of one tensor. Sequence b has rows
  // cu_q[b] to cu_q[b + 1] of Q and O, and cu_k[b] to cu_k[b + 1] of K and V. If the addresses of used_q and
  // used_k are not 0, only the first used_q[b] and used_k[b] of them count. All numbers are i32.
  u32 packed;
  u64 cu_q, cu_k, used_q, used_k;
  u32 queries, keys;    // per sequence; if packed: queries of the longest one, and keys unused
  u32 batches, heads;   // heads: query heads
  u32 heads_of_group;   // query heads per KV head
  u32 qk_size, v_size;  // elements of a row of Q and K; of V and O
  u32 query_tiles;      // per head
  u32 longest_first;    // 1: the last tiles of queries have the most keys, and begin first (block.hpp):
  u32 leading_heads;    // of all batches: first these heads, one after the other, then the rest interleaved
  f32 scale;
  u32 element;  // element_type of Q, K and V, for kernels that take several
};

// Number of leading heads if `blocks` blocks run at once: all heads except those for the last one or two
// rounds of two tiles per block. An even number.
constexpr std::uint32_t leading_heads(std::uint64_t heads, std::uint64_t query_tiles, std::uint64_t blocks) {
  const std::uint64_t rounds = blocks == 0 ? 0 : heads * query_tiles / 2 / blocks;
  return rounds < 2 ? 0 : static_cast<std::uint32_t>((rounds - 1) * blocks / query_tiles * 2);
}

}  // namespace kaio::ops
