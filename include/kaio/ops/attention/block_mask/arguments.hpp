#pragma once
// What a caller of make_block_mask gives, and what its kernel takes.

#include <kaio/ops/attention/forward/call/arguments.hpp>
#include <kaio/ops/attention/common/block_lists.hpp>
#include <kaio/ops/attention/common/terms.hpp>

#include <array>
#include <cstdint>

namespace kaio::ops {

// Where a block mask is written. With Qb = ceil(queries / size.queries) and Kb = ceil(keys / size.keys), of as
// many batches B' and heads H' as each view has:
//
//   kv_num_blocks, full_kv_num_blocks    (B', H', Qb)        q_num_blocks, full_q_num_blocks    (B', H', Kb)
//   kv_indices, full_kv_indices          (B', H', Qb, Kb)    q_indices, full_q_indices          (B', H', Kb, Qb)
//
// or with more room along the last dimension. The lists of q name the blocks of queries that a block of keys
// is visited by, as gradients need them. Each pair of views may be left out; where the full ones are, full
// blocks are listed as partial ones.
struct block_mask_output {
  block_mask_numbers<3> kv_num_blocks{};
  block_mask_numbers<4> kv_indices{};
  block_mask_numbers<3> full_kv_num_blocks{};
  block_mask_numbers<4> full_kv_indices{};
  block_mask_numbers<3> q_num_blocks{};
  block_mask_numbers<4> q_indices{};
  block_mask_numbers<3> full_q_num_blocks{};
  block_mask_numbers<4> full_q_indices{};
  block_mask_size size{};

  // For the option `blocks` of an attention.
  operator block_mask() const {
    return {kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, size};
  }
};

struct block_mask_options {
  std::int64_t queries = 0, keys = 0;  // of each head, as the attention will have them
  // As of attention, for ops::band_mask.
  causal_alignment causal = causal_alignment::none;
  attention_window window{};
};

// The lists along one side of a mask.
struct block_mask_problem {
  block_list partial, full;             // written
  u32 queries, keys;                    // of a head
  u32 block_queries, block_keys;        // of a block
  u32 query_blocks, key_blocks, heads;  // blocks of a head
  u32 of_keys;                          // 1: lists of blocks of queries, for each block of keys
};

struct block_mask_call {
  struct side {
    block_mask_problem problem{};
    std::uint64_t lists = 0;  // for as many blocks of all heads and batches; 0: they are not wanted
  };
  std::array<side, 2> sides{};  // of queries, of keys
  attention_band band{};
};

namespace detail {
// Checks the arguments, and normalises them as above. Throws invalid_argument.
block_mask_call resolve_block_mask(const void* device, const block_mask_output& output,
                                   const block_mask_options& options, bool own_mask);
}  // namespace detail

}  // namespace kaio::ops
