// The checks of make_block_mask before anything runs.

#include <kaio/ops/attention/block_mask/arguments.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/runtime/error.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/attention/common/band.hpp"
#include "ops/attention/common/blocks.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::string_view operation = "make_block_mask";
constexpr std::int64_t most_extent = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

// The lists along one side: partial and full.
struct side_views {
  named_view counts, indices, full_counts, full_indices;
};

std::uint64_t check_side(const validation& check, const side_views& side, std::int64_t blocks,
                         std::string_view what, std::int64_t most) {
  check_both(operation, side.counts, side.indices, what);
  check_both(operation, side.full_counts, side.full_indices, what);
  if (!side.counts.view->exists()) {
    if (side.full_counts.view->exists())
      refuse("arguments " + std::string(side.full_counts.name) + " and " +
             std::string(side.full_indices.name) + " without " + std::string(side.counts.name) + " and " +
             std::string(side.indices.name) + "; give both kinds, or the partial ones alone");
    return 0;
  }
  for (const named_view& one : {side.counts, side.indices, side.full_counts, side.full_indices})
    if (one.view->exists()) check.output(one.name, *one.view);
  const auto check_kind = [&](const named_view& counts, const named_view& indices) {
    if (!counts.view->exists()) return;
    for (const named_view& one : {counts, indices}) {
      check.extent(one.name, *one.view, 0, side.counts.view->extents[0],
                   "the batches of " + std::string(side.counts.name));
      check.extent(one.name, *one.view, 1, side.counts.view->extents[1],
                   "the heads of " + std::string(side.counts.name));
      check.extent(one.name, *one.view, 2, blocks, what);
    }
    check_room(check, operation, indices);
    if (indices.view->extents[3] < most)
      refuse("argument " + std::string(indices.name) + " has room for " +
             std::to_string(indices.view->extents[3]) + " numbers a list; there may be " +
             std::to_string(most));
  };
  check_kind(side.counts, side.indices);
  check_kind(side.full_counts, side.full_indices);
  const attention_view& counts = *side.counts.view;
  const double lists = static_cast<double>(counts.extents[0]) * static_cast<double>(counts.extents[1]) *
                       static_cast<double>(blocks);
  if (lists > static_cast<double>(most_extent)) refuse("more than 2^31 lists; take larger blocks");
  return static_cast<std::uint64_t>(lists);
}

}  // namespace

block_mask_call resolve_block_mask(const void* device, const block_mask_output& output,
                                   const block_mask_options& options, bool own_mask) {
  const validation check(operation, device);
  for (const auto& [name, n] : {std::pair{"queries", options.queries}, std::pair{"keys", options.keys}})
    if (n < 0 || n > most_extent)
      refuse(std::string(name) + " is " + std::to_string(n) + "; it is from 0 to 2^31 - 1");
  check_band(operation, options.causal, options.window);
  if (own_mask && is_banded(options.causal, options.window))
    refuse("causal or a window next to a mask of your own, which takes their place: test them there");
  check_block_size(operation, output.size);
  const std::int64_t query_blocks = ceil_div(options.queries, output.size.queries);
  const std::int64_t key_blocks = ceil_div(options.keys, output.size.keys);

  const std::array<side_views, 2> views{{{{"kv_num_blocks", &output.kv_num_blocks.view},
                                          {"kv_indices", &output.kv_indices.view},
                                          {"full_kv_num_blocks", &output.full_kv_num_blocks.view},
                                          {"full_kv_indices", &output.full_kv_indices.view}},
                                         {{"q_num_blocks", &output.q_num_blocks.view},
                                          {"q_indices", &output.q_indices.view},
                                          {"full_q_num_blocks", &output.full_q_num_blocks.view},
                                          {"full_q_indices", &output.full_q_indices.view}}}};
  std::vector<named_view> given;
  for (const side_views& side : views)
    for (const named_view& one : {side.counts, side.indices, side.full_counts, side.full_indices})
      if (one.view->exists()) given.push_back(one);
  if (given.empty()) refuse("no lists to write; give kv_num_blocks and kv_indices");

  block_mask_call call;
  call.band = band_of(options.causal, options.window);
  for (const std::size_t i : {0u, 1u}) {
    const bool of_keys = i == 1;
    block_mask_call::side& side = call.sides[i];
    side.lists = of_keys ? check_side(check, views[i], key_blocks, "the blocks of keys", query_blocks)
                         : check_side(check, views[i], query_blocks, "the blocks of queries", key_blocks);
    if (side.lists == 0) continue;
    side.problem = {list_of(*views[i].counts.view, *views[i].indices.view),
                    list_of(*views[i].full_counts.view, *views[i].full_indices.view),
                    static_cast<u32>(options.queries),
                    static_cast<u32>(options.keys),
                    static_cast<u32>(output.size.queries),
                    static_cast<u32>(output.size.keys),
                    static_cast<u32>(query_blocks),
                    static_cast<u32>(key_blocks),
                    static_cast<u32>(views[i].counts.view->extents[1]),
                    of_keys ? 1u : 0u};
  }
  for (std::size_t i = 0; i < given.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      check.apart(given[i].name, *given[i].view, given[j].name, *given[j].view);
  return call;
}

}  // namespace kaio::ops::detail
