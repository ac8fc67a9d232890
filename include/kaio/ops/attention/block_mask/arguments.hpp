#pragma once
// The arguments of make_block_mask, and those of its kernel.

#include <kaio/ops/attention/common/arguments.hpp>
#include <kaio/ops/attention/common/block_lists.hpp>
#include <kaio/ops/attention/common/terms.hpp>

#include <array>
#include <cstdint>

namespace kaio::ops {

// Where a block mask is written. Qb = ceil(queries / size.queries) and Kb = ceil(keys / size.keys). B'
// batches and H' heads are those of the views, equal within a column:
//
//   kv_num_blocks, full_kv_num_blocks   (B', H', Qb)       q_num_blocks, full_q_num_blocks   (B', H', Kb)
//   kv_indices, full_kv_indices         (B', H', Qb, Kb)   q_indices, full_q_indices         (B', H', Kb, Qb)
//
// The last dimension may have more room. The lists of q name the blocks of queries that visit a block of
// keys, as gradients need them. Each pair of views may be left out. Without the full ones, full blocks are
// listed as partial.
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

  // For an attention's option `blocks`.
  operator block_mask() const {
    return {kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, size};
  }
};

struct block_mask_options {
  std::int64_t queries = 0, keys = 0;  // per head, as the attention will have them
  // For ops::band_mask, as in attention_options.
  causal_option causal = causal_alignment::none;
  attention_window window{};
};

// The lists along one side of a mask.
struct block_mask_problem {
  block_list partial, full;             // to be written
  u32 queries, keys;                    // per head
  u32 block_queries, block_keys;        // queries and keys of a block
  u32 query_blocks, key_blocks, heads;  // blocks per head
  u32 of_keys;                          // 1: the lists name blocks of queries, for each block of keys
};

struct block_mask_call {
  struct side {
    block_mask_problem problem{};
    std::uint64_t lists = 0;  // number of lists, over all blocks, heads and batches; 0: not wanted
  };
  std::array<side, 2> sides{};  // lists for blocks of queries, lists for blocks of keys
  attention_band band{};
};

namespace detail {
// Checks the arguments, and normalises them as above. Throws invalid_argument.
block_mask_call resolve_block_mask(const void* device, const block_mask_output& output,
                                   const block_mask_options& options, bool own_mask);
}  // namespace detail

}  // namespace kaio::ops
