#include "ops/attention/common/blocks.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace kaio::ops::detail {

namespace {

constexpr std::int64_t most_extent = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(std::string_view operation, const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

// Strides along an extent of 1 are 0, so that batches and heads share the lists.
std::int64_t stride(const attention_view& v, std::size_t d) { return v.extents[d] > 1 ? v.strides[d] : 0; }

}  // namespace

std::array<named_view, 4> views_of(const block_mask& blocks) {
  return {{{"blocks.kv_num_blocks", &blocks.kv_num_blocks.view},
           {"blocks.kv_indices", &blocks.kv_indices.view},
           {"blocks.full_kv_num_blocks", &blocks.full_kv_num_blocks.view},
           {"blocks.full_kv_indices", &blocks.full_kv_indices.view}}};
}

void check_block_size(std::string_view operation, const block_mask_size& size) {
  for (const std::int64_t n : {size.queries, size.keys})
    if (n < 1 || n > most_extent)
      refuse(operation, "blocks of " + std::to_string(size.queries) + " queries and " +
                            std::to_string(size.keys) + " keys; both are from 1 to 2^31 - 1");
}

void check_room(const validation& check, std::string_view operation, const named_view& indices) {
  check.at_most(indices.name, *indices.view, 3, most_extent);
  if (indices.view->extents[3] > 1 && indices.view->strides[3] != 1)
    refuse(operation, "argument " + std::string(indices.name) +
                          " has gaps along its last dimension; the numbers of a list follow each other");
}

void check_both(std::string_view operation, const named_view& counts, const named_view& indices,
                std::string_view what) {
  const bool has_counts = counts.view->exists();
  if (has_counts == indices.view->exists()) return;
  const named_view &given = has_counts ? counts : indices, &missing = has_counts ? indices : counts;
  refuse(operation, "argument " + std::string(given.name) + " without " + std::string(missing.name) +
                        ", i32 of (batches, heads, " + std::string(what) +
                        (has_counts ? ", the longest list): which blocks each list has"
                                    : "): how many blocks each list has") +
                        "; give both or none");
}

void check_list(const validation& check, std::string_view operation, const named_view& counts,
                const named_view& indices, const list_shape& shape) {
  check_both(operation, counts, indices, shape.what);
  if (!counts.view->exists()) return;
  for (const named_view& one : {counts, indices}) {
    check.input(one.name, *one.view);
    if (one.view->extents[0] != 1)
      check.extent(one.name, *one.view, 0, shape.batches, "the batches, or one for all");
    if (one.view->extents[1] != 1)
      check.extent(one.name, *one.view, 1, shape.heads, "the heads of q, or one for all");
    check.extent(one.name, *one.view, 2, shape.blocks, shape.what);
  }
  check_room(check, operation, indices);
}

void check_blocks(const validation& check, const attention_arguments& arguments,
                  const block_mask_shape& shape) {
  const block_mask& blocks = arguments.options->blocks;
  const std::string_view operation = arguments.operation;
  if (!blocks.exists()) {
    if (arguments.blocks == use_of_blocks::required)
      refuse(operation, "a mask in ops::block_sparse, and no option blocks; give its lists");
    return;
  }
  if (arguments.blocks == use_of_blocks::none)
    refuse(operation, "blocks next to a mask that does not read them; write ops::block_sparse<Mask>");
  if (arguments.sequences != nullptr) refuse(operation, "attention_varlen takes no blocks");
  check_block_size(operation, blocks.size);
  const auto views = views_of(blocks);
  const list_shape lists{shape.batches, shape.heads,
                         (shape.queries + blocks.size.queries - 1) / blocks.size.queries,
                         "the blocks of queries"};
  check_both(operation, views[0], views[1], lists.what);
  check_both(operation, views[2], views[3], lists.what);
  if (!views[0].view->exists())
    refuse(operation,
           "arguments blocks.full_kv_num_blocks and blocks.full_kv_indices without "
           "blocks.kv_num_blocks and blocks.kv_indices, the blocks that are visited with the mask; "
           "give all four, where there are none with zeros in blocks.kv_num_blocks");
  check_list(check, operation, views[0], views[1], lists);
  check_list(check, operation, views[2], views[3], lists);
}

block_list list_of(const attention_view& counts, const attention_view& indices) {
  if (!counts.exists()) return {};
  return {counts.address,
          stride(counts, 0),
          stride(counts, 1),
          stride(counts, 2),
          indices.address,
          stride(indices, 0),
          stride(indices, 1),
          stride(indices, 2),
          static_cast<u32>(indices.extents[3]),
          0};
}

attention_block_lists lists_of(const block_mask& blocks, std::int64_t keys) {
  attention_block_lists result{};
  if (keys > 0) {  // without keys, no list may name a block
    result.partial = list_of(blocks.kv_num_blocks.view, blocks.kv_indices.view);
    result.full = list_of(blocks.full_kv_num_blocks.view, blocks.full_kv_indices.view);
  }
  result.queries = static_cast<u32>(blocks.size.queries);
  result.keys = static_cast<u32>(blocks.size.keys);
  return result;
}

}  // namespace kaio::ops::detail
