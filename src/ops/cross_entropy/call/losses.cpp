#include "ops/cross_entropy/call/losses.hpp"

#include <kaio/runtime/device.hpp>

#include <algorithm>

namespace kaio::ops {

namespace {

std::uint64_t blocks_of_totals(std::uint64_t count) {
  return std::max<std::uint64_t>(1, (count + totals_of_block - 1) / totals_of_block);
}
// Numbers of f32: a loss and a weight for each row, then for each block of every launch that sums them.
std::uint64_t workspace_numbers(std::uint64_t rows) {
  std::uint64_t numbers = 2 * rows;
  for (std::uint64_t count = rows; count > totals_of_block;) {
    count = blocks_of_totals(count);
    numbers += 2 * count;
  }
  return numbers;
}

}  // namespace

std::uint64_t loss_workspace_bytes(std::uint64_t rows) {
  return (workspace_numbers(rows) * sizeof(f32) + 255) / 256 * 256;
}

row_numbers numbers_of(const any_view& v) { return {v.address, v.extents[0] == 1 ? 0 : v.strides[0]}; }

void check_numbers_of_rows(std::string_view operation, const validation& check,
                           const detail::named_argument& of, std::int64_t count, std::string_view reason) {
  const std::string argument = "argument " + std::string(of.name);
  if (of.view.rank != 1) detail::refuse(operation, argument + " has more than one dimension");
  if (of.view.type != element_kind::f32)
    detail::refuse(operation, argument + " has another element type than f32");
  check.extent(of.name, of.view, 0, count, reason);
}

void check_apart(const validation& check, const detail::named_argument& output,
                 std::initializer_list<detail::named_argument> others) {
  for (const detail::named_argument& one : others)
    if (detail::is_given(one.view)) check.apart(output.name, output.view, one.name, one.view);
}

void set_logits(cross_entropy_problem& problem, const any_view& logits, std::int64_t first) {
  problem.size = static_cast<u32>(logits.extents[1]);
  problem.first = static_cast<u32>(first);
  problem.lanes_log = row_division::of(problem.size, logits.element_bytes(), true, 1, true).lanes_log;
  problem.logits = {logits.address, logits.strides[0]};
}

void run_totals(const stream& s, u64 workspace, std::uint64_t rows, loss_reduction reduction,
                const any_view& loss, const any_view& total_weight) {
  u64 losses = workspace, weights = losses + sizeof(f32) * rows;
  u64 unused = weights + sizeof(f32) * rows;
  for (std::uint64_t count = rows;;) {
    const std::uint64_t blocks = blocks_of_totals(count);
    const bool is_last = blocks == 1;
    const u64 sums = is_last ? loss.address : unused;
    const u64 sums_of_weights = !is_last                         ? unused + sizeof(f32) * blocks
                                : detail::is_given(total_weight) ? total_weight.address
                                                                 : 0;
    run_cross_entropy_totals(s, static_cast<std::uint32_t>(blocks),
                             {.losses = losses,
                              .weights = weights,
                              .count = static_cast<u32>(count),
                              .loss = sums,
                              .weight = sums_of_weights,
                              .divides = is_last && reduction == loss_reduction::mean ? 1u : 0u});
    if (is_last) return;
    losses = sums;
    weights = sums_of_weights;
    unused += 2 * sizeof(f32) * blocks;
    count = blocks;
  }
}

void run_gradient(const stream& s, const row_variant<cross_entropy_backward_problem>& variant, row_plan plan,
                  cross_entropy_backward_problem problem) {
  // Few rows: several blocks share each one, with a batch or more for each thread.
  const std::uint64_t groups = row_blocks(problem.of.rows, problem.of.lanes_log);
  const std::uint64_t wanted = std::uint64_t{8} * s.properties().multiprocessors,
                      batches = problem.of.size / 8 / row_threads;
  problem.parts_log = 0;
  while (groups << problem.parts_log < wanted && std::uint64_t{2} << problem.parts_log <= batches)
    ++problem.parts_log;
  plan.blocks = static_cast<std::uint32_t>(groups << problem.parts_log);
  variant.run(s, plan, problem);
}

}  // namespace kaio::ops
