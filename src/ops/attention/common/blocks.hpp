#pragma once
// The option `blocks` of an attention: its checks, and the lists as kernels read them.

#include <kaio/ops/attention/forward/call/arguments.hpp>
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

// Heads and batches of q, the queries and the keys.
struct block_mask_shape {
  std::int64_t batches, heads, queries, keys;
};

// What an output may not share memory with; views that are not given among them.
std::array<named_view, 4> views_of(const block_mask& blocks);

// Throws invalid_argument where a block of `size` is none.
void check_block_size(std::string_view operation, const block_mask_size& size);

// What the lists of each block along one side of a mask have to be.
struct list_shape {
  std::int64_t batches, heads, blocks;
  std::string_view what;  // the blocks are
};

// A list's numbers are adjacent, and no more than kernels count. Throws invalid_argument.
void check_room(const validation& check, std::string_view operation, const named_view& indices);

// Throws invalid_argument where one is there without the other. Each of `what` has a list.
void check_both(std::string_view operation, const named_view& counts, const named_view& indices,
                std::string_view what);

// (batches or 1, heads or 1, blocks) and (the same, room of a list), or neither. Throws invalid_argument.
void check_list(const validation& check, std::string_view operation, const named_view& counts,
                const named_view& indices, const list_shape& shape);

// Throws invalid_argument where they are there and must not be, the other way round, or bad.
void check_blocks(const validation& check, const attention_arguments& arguments,
                  const block_mask_shape& shape);

// As kernels read or write them; of views that are not given, none.
block_list list_of(const attention_view& counts, const attention_view& indices);
// But for `masks`.
attention_block_lists lists_of(const block_mask& blocks, std::int64_t keys);

}  // namespace kaio::ops::detail
