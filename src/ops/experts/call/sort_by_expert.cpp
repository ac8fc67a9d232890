// Checks calls of sort_by_expert before anything runs, and launches them.

#include <kaio/ops/sort_by_expert.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "ops/experts/call/checks.hpp"
#include "ops/experts/simt/rows.hpp"

namespace kaio::ops {

namespace detail {

namespace {

constexpr std::string_view name_of_sort = "sort_by_expert";
constexpr std::uint64_t entries_of_one_block = 2048, least_entries = 1024, most_blocks = 256;
constexpr std::uint64_t warps = 8;

struct order_plan {
  std::uint64_t of_warp, blocks;

  // A block has at least 1024 entries of several blocks, and there are at most 256 blocks: each of them reads the
  // counts of all.
  explicit order_plan(std::uint64_t entries) {
    const auto ceil = [](std::uint64_t x, std::uint64_t by) { return (x + by - 1) / by; };
    std::uint64_t of_block = std::max(entries, std::uint64_t{1});
    if (entries > entries_of_one_block) of_block = std::max(least_entries, ceil(entries, most_blocks));
    of_warp = ceil(ceil(of_block, warps), 32) * 32;
    blocks = std::max(ceil(entries, of_warp * warps), std::uint64_t{1});
  }
  std::uint64_t bytes(std::uint64_t experts) const { return blocks == 1 ? 0 : blocks * (experts + 1) * 4; }
};

void check_numbers_of(const validation& check, std::string_view name, const any_view& v, std::int64_t count,
                      std::string_view reason) {
  check.output(name, v);
  check_rank(name_of_sort, name, v, 1);
  check_type(name_of_sort, name, v, element_kind::i32, "i32");
  check.extent(name, v, 0, count, reason);
  check_adjacent(name_of_sort, name, v);
}

}  // namespace

void run_sort_by_expert(const stream& s, const any_view& indices, const any_view& offsets,
                        const sort_by_expert_options& options) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(name_of_sort);
  const validation check(name_of_sort, s.device_identity());
  check.input("indices", indices);
  check_adjacent(name_of_sort, "indices", indices);
  const std::int64_t tokens = indices.extents[0], k = indices.extents[1], experts = offsets.extents[0] - 1;
  if (experts < 1 || experts > std::int64_t{most_experts})
    refuse(name_of_sort, "argument offsets has " + std::to_string(experts + 1) +
                             " elements; it has one more than experts, of which there are 1 to " +
                             std::to_string(most_experts));
  if (k > 0) check.at_most("indices", indices, 0, most_choices / k);
  check_numbers_of(check, "offsets", offsets, experts + 1, "the experts, and one");

  std::array<std::pair<std::string_view, const any_view*>, 4> outputs{};
  std::size_t count = 0;
  outputs[count++] = {"offsets", &offsets};
  if (is_given(options.counts)) {
    check_numbers_of(check, "counts", options.counts, experts, "the experts");
    outputs[count++] = {"counts", &options.counts};
  }
  if (is_given(options.tokens)) {
    check_numbers_of(check, "tokens", options.tokens, tokens * k, "the choices of all tokens");
    outputs[count++] = {"tokens", &options.tokens};
  }
  if (is_given(options.positions)) {
    const any_view& positions = options.positions;
    check.output("positions", positions);
    check_rank(name_of_sort, "positions", positions, 2);
    check_type(name_of_sort, "positions", positions, element_kind::i32, "i32");
    check.extent("positions", positions, 0, tokens, "the tokens of indices");
    check.extent("positions", positions, 1, k, "the last extent of indices");
    check_adjacent(name_of_sort, "positions", positions);
    outputs[count++] = {"positions", &positions};
  }
  const auto entries = static_cast<std::uint64_t>(tokens * k);
  const order_plan plan(entries);
  const workspace_facts memory = options.workspace.facts();
  const std::uint64_t bytes = plan.bytes(static_cast<std::uint64_t>(experts));
  if (bytes != 0) {
    check.workspace("workspace", memory, bytes, 16);
    check.workspace_apart(memory, "indices", indices);
  }
  for (std::size_t i = 0; i < count; ++i) {
    check.apart(outputs[i].first, *outputs[i].second, "indices", indices);
    for (std::size_t j = 0; j < i; ++j)
      check.apart(outputs[i].first, *outputs[i].second, outputs[j].first, *outputs[j].second);
    if (bytes != 0) check.workspace_apart(memory, outputs[i].first, *outputs[i].second);
  }

  expert_order_problem problem{};
  problem.indices = rows_of_experts(indices);
  if (is_given(options.positions)) problem.positions = rows_of_experts(options.positions);
  problem.offsets = offsets.address;
  if (is_given(options.counts)) problem.counts = options.counts.address;
  if (is_given(options.tokens)) problem.tokens = options.tokens.address;
  problem.partial = bytes != 0 ? memory.address : 0;
  problem.k = divisor::of(static_cast<u32>(std::max(k, std::int64_t{1})));
  problem.entries = static_cast<u32>(entries);
  problem.experts = static_cast<u32>(experts);
  problem.of_warp = static_cast<u32>(plan.of_warp);
  problem.blocks = static_cast<u32>(plan.blocks);
  launch_expert_order(s, problem);
}

std::uint64_t sort_by_expert_bytes(const any_view& indices, const any_view& offsets) {
  const auto extent = [](std::int64_t x) { return static_cast<std::uint64_t>(std::max(x, std::int64_t{0})); };
  return order_plan(extent(indices.extents[0]) * extent(indices.extents[1]))
      .bytes(extent(offsets.extents[0] - 1));
}

}  // namespace detail

void sort_by_expert_warmup(const runtime::device& gpu) {
  gpu.warmup(expert_count_image());
  gpu.warmup(expert_place_image());
}

}  // namespace kaio::ops
