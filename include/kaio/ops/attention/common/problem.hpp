#pragma once
// The numbers of an attention as its kernels take them: extents, strides and where the log-sum-exp goes. The
// caller's tensors are (batch, sequence, head, element) by strides; neighbours along the last one are
// adjacent.

#include <kaio/dsl/number/scalar.hpp>

#include <cstdint>

namespace kaio::ops {

// Where the rows of Q, K, V or O begin: the address of the first one, and from one to the next in elements.
struct attention_strides {
  u64 address;
  i64 batch, row, head;
  u32 by_16;   // 1 where every row begins at a multiple of 16 bytes, and is a multiple of 16 bytes long
  u32 is_f32;  // of O: 1 where operands are of 16 bits and it is of f32
};

// The element types of sinks.
enum class sink_type : u32 { none, f32, f16, bf16 };

struct attention_problem {
  attention_strides q, k, v, o;
  u64 lse;  // the address of f32 numbers; 0: they are not wanted
  i64 lse_batch, lse_head, lse_row;
  u64 sinks;  // the address of a number for each head
  i64 sink_head;
  u32 sinks_are;  // of sink_type
  // 1: sequences of different lengths follow each other along the rows of one tensor. Sequence b has rows
  // cu_q[b] to cu_q[b + 1] of Q and O, and cu_k[b] to cu_k[b + 1] of K and V; of these used_q[b] and
  // used_k[b], where the addresses are not 0. All of them i32.
  u32 packed;
  u64 cu_q, cu_k, used_q, used_k;
  u32 queries, keys;    // of a sequence; packed: of the longest one, and unused
  u32 batches, heads;   // of queries
  u32 heads_of_group;   // query heads that share a head of K and V
  u32 qk_size, v_size;  // elements of a row of Q and K, of V and O
  u32 query_tiles;      // of a head
  u32 longest_first;    // 1: the last tiles of queries have the most keys, and begin first (block.hpp):
  u32 leading_heads;  // of so many heads, of all batches, one head after the other; then of the rest at once
  f32 scale;
  u32 element;  // element_type of Q, K and V, for kernels that take several
};

// How many heads lead where so many blocks run at once: all but those for the last one or two rounds of two
// tiles a block. An even number.
constexpr std::uint32_t leading_heads(std::uint64_t heads, std::uint64_t query_tiles, std::uint64_t blocks) {
  const std::uint64_t rounds = blocks == 0 ? 0 : heads * query_tiles / 2 / blocks;
  return rounds < 2 ? 0 : static_cast<std::uint32_t>((rounds - 1) * blocks / query_tiles * 2);
}

}  // namespace kaio::ops
