#pragma once
// The option `blocks` of an attention: its checks, and the lists as kernels read them.

#include <kaio/ops/attention/common/arguments.hpp>
#include <kaio/ops/attention/common/block_lists.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace kaio::ops::detail {

struct named_view {
  std::string_view name;
  const attention_view* view;
};

// Batches and heads of q, the queries and the keys.
struct block_mask_shape {
  std::int64_t batches, heads, queries, keys;
};

// Views that must not overlap an output, including views that are not given.
std::array<named_view, 4> views_of(const block_mask& blocks);

// Throws invalid_argument if a block of `size` is impossible.
void check_block_size(std::string_view operation, const block_mask_size& size);

// The required shape of the lists along one side of a mask.
struct list_shape {
  std::int64_t batches, heads, blocks;
  std::string_view what;  // name of the blocks that have lists
};

// Throws invalid_argument unless a list's numbers are adjacent, and few enough for kernels to count.
void check_room(const validation& check, std::string_view operation, const named_view& indices);

// Throws invalid_argument if only one of them is given. Each of `what` has a list.
void check_both(std::string_view operation, const named_view& counts, const named_view& indices,
                std::string_view what);

// Requires counts of (batches or 1, heads or 1, blocks), and indices with the room of a list as a fourth
// extent; or neither. Throws invalid_argument.
void check_list(const validation& check, std::string_view operation, const named_view& counts,
                const named_view& indices, const list_shape& shape);

// Throws invalid_argument if the blocks are missing, not allowed, or invalid.
void check_blocks(const validation& check, const attention_arguments& arguments,
                  const block_mask_shape& shape);

// A list as kernels read or write it; an empty one if the views are not given.
block_list list_of(const attention_view& counts, const attention_view& indices);
// All lists, without `masks`.
attention_block_lists lists_of(const block_mask& blocks, std::int64_t keys);

}  // namespace kaio::ops::detail
