// Checks calls of cross_entropy and of its gradient before anything runs, and launches them.

#include <kaio/ops/cross_entropy.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <string>
#include <string_view>

#include "ops/cross_entropy/simt/rows.hpp"
#include "ops/families.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

using detail::is_given, detail::named_argument, detail::refuse, detail::same_view;

constexpr std::uint64_t workspace_alignment = 16;

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

row_numbers numbers_of(const any_view& v) { return {v.address, v.extents[0] == 1 ? 0 : v.strides[0]}; }

void check_numbers_of_rows(std::string_view operation, const validation& check, const named_argument& of,
                           std::int64_t count, std::string_view reason) {
  const std::string argument = "argument " + std::string(of.name);
  if (of.view.rank != 1) refuse(operation, argument + " has more than one dimension");
  if (of.view.type != element_kind::f32) refuse(operation, argument + " has another element type than f32");
  check.extent(of.name, of.view, 0, count, reason);
}

// Checks what both calls take, and returns their parameters.
template <class Options>
cross_entropy_problem resolve(std::string_view operation, const validation& check, const any_view& logits,
                              const any_view& targets, const Options& options) {
  check.input("logits", logits);
  check.input("targets", targets);
  check_adjacent(operation, "logits", logits);
  check_row_counts(operation, logits);
  if (logits.extents[1] == 0) refuse(operation, "argument logits has no classes");
  check.extent("targets", targets, 0, logits.extents[0], "the rows of logits");
  if (is_given(options.weights)) {
    check.input("weights", options.weights);
    check_numbers_of_rows(operation, check, {"weights", options.weights}, logits.extents[1],
                          "the classes of logits");
    check_adjacent(operation, "weights", options.weights);
  }
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    refuse(operation, "label_smoothing is not from 0 to 1");
  if (!std::isfinite(options.z_loss)) refuse(operation, "z_loss is not finite");
  if (!(options.softcap >= 0 && std::isfinite(options.softcap)))
    refuse(operation, "softcap is neither 0 nor finite and above 0");
  if (options.reduction > loss_reduction::mean) refuse(operation, "reduction is not none, sum or mean");

  cross_entropy_problem problem{};
  problem.rows = static_cast<u32>(logits.extents[0]);
  problem.size = static_cast<u32>(logits.extents[1]);
  problem.lanes_log = row_division::of(problem.size, logits.element_bytes(), true, 1).lanes_log;
  problem.has_wide_targets = targets.type == element_kind::i64 ? 1 : 0;
  problem.logits = {logits.address, logits.strides[0]};
  problem.targets = {targets.address, targets.strides[0]};
  problem.terms = {.ignored = options.ignore_index,
                   .weights = is_given(options.weights) ? options.weights.address : 0,
                   .smoothing = options.label_smoothing,
                   .z_loss = options.z_loss,
                   .softcap = options.softcap,
                   .cap_scale = options.softcap == 0 ? 0 : 2 * std::numbers::log2e_v<f32> / options.softcap};
  return problem;
}

bool has_pieces(const any_view& v) {
  return v.extents[1] * v.element_bytes() % piece_bytes == 0 && detail::begins_at(v, piece_bytes);
}

void check_apart(const validation& check, const named_argument& output,
                 std::initializer_list<named_argument> others) {
  for (const named_argument& one : others)
    if (is_given(one.view)) check.apart(output.name, output.view, one.name, one.view);
}

// Adds the rows' losses and weights, which are the first numbers of the workspace.
void run_totals(const stream& s, const cross_entropy_options& options, const any_view& loss,
                std::uint64_t rows) {
  u64 losses = options.workspace.address, weights = losses + sizeof(f32) * rows;
  u64 unused = weights + sizeof(f32) * rows;
  for (std::uint64_t count = rows;;) {
    const std::uint64_t blocks = blocks_of_totals(count);
    const bool is_last = blocks == 1;
    const u64 sums = is_last ? loss.address : unused;
    const u64 sums_of_weights = !is_last                         ? unused + sizeof(f32) * blocks
                                : is_given(options.total_weight) ? options.total_weight.address
                                                                 : 0;
    run_cross_entropy_totals(s, static_cast<std::uint32_t>(blocks),
                             {.losses = losses,
                              .weights = weights,
                              .count = static_cast<u32>(count),
                              .loss = sums,
                              .weight = sums_of_weights,
                              .divides = is_last && options.reduction == loss_reduction::mean ? 1u : 0u});
    if (is_last) return;
    losses = sums;
    weights = sums_of_weights;
    unused += 2 * sizeof(f32) * blocks;
    count = blocks;
  }
}

}  // namespace

namespace detail {

void run_cross_entropy(const stream& s, const any_view& logits, const any_view& targets, const any_view& loss,
                       const cross_entropy_options& options) {
  constexpr std::string_view operation = "cross_entropy";
  static_cast<void>(s.properties());  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  cross_entropy_forward_problem problem{};
  problem.of = resolve(operation, check, logits, targets, options);
  const std::int64_t rows = logits.extents[0];
  const bool sums = options.reduction != loss_reduction::none;
  check.output("loss", loss);
  check_numbers_of_rows(operation, check, {"loss", loss}, sums ? 1 : rows,
                        sums ? "one number" : "the rows of logits, without a reduction");
  const named_argument lse{"lse", options.lse}, total{"total_weight", options.total_weight};
  if (is_given(lse.view)) {
    check.output(lse.name, lse.view);
    check_numbers_of_rows(operation, check, lse, rows, "the rows of logits");
  }
  if (is_given(total.view)) {
    if (!sums) refuse(operation, "total_weight is given without a reduction");
    check.output(total.name, total.view);
    check_numbers_of_rows(operation, check, total, 1, "one number");
  }
  const named_argument x{"logits", logits}, of{"targets", targets}, weights{"weights", options.weights};
  check_apart(check, {"loss", loss}, {x, of, weights, lse, total});
  if (is_given(lse.view)) check_apart(check, lse, {x, of, weights, total});
  if (is_given(total.view)) check_apart(check, total, {x, of, weights});
  if (sums) {
    check.workspace("workspace", options.workspace.facts(), cross_entropy_workspace_bytes(logits),
                    workspace_alignment);
    for (const named_argument& one : {x, of, weights, lse, total, named_argument{"loss", loss}})
      if (is_given(one.view)) check.workspace_apart(options.workspace.facts(), one.name, one.view);
  }
  if (rows != 0) {
    if (is_given(lse.view)) problem.of.lse = numbers_of(lse.view);
    if (sums) {
      problem.losses = {options.workspace.address, 1};
      problem.target_weights = options.workspace.address + sizeof(f32) * static_cast<u64>(rows);
    } else {
      problem.losses = numbers_of(loss);
    }
    cross_entropy_variant_for(logits.type, has_pieces(logits))
        .run(s, static_cast<std::uint32_t>(row_blocks(problem.of.rows, problem.of.lanes_log)), problem);
  }
  if (sums) run_totals(s, options, loss, static_cast<std::uint64_t>(rows));
}

void run_cross_entropy_backward(const stream& s, const any_view& logits, const any_view& targets,
                                const any_view& lse, const any_view& dloss, const any_view& dlogits,
                                const cross_entropy_backward_options& options) {
  constexpr std::string_view operation = "cross_entropy_backward";
  const device_properties& device = s.properties();
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  cross_entropy_backward_problem problem{};
  problem.of = resolve(operation, check, logits, targets, options);
  const std::int64_t rows = logits.extents[0];
  const bool sums = options.reduction != loss_reduction::none;
  check.input("lse", lse);
  check_numbers_of_rows(operation, check, {"lse", lse}, rows, "the rows of logits");
  check.input("dloss", dloss);
  check_numbers_of_rows(operation, check, {"dloss", dloss}, sums ? 1 : rows,
                        sums ? "one number" : "the rows of logits, without a reduction");
  check.output("dlogits", dlogits);
  if (dlogits.type != logits.type)
    refuse(operation, "argument dlogits has another element type than logits; cast it");
  for (std::uint32_t d = 0; d < 2; ++d)
    check.extent("dlogits", dlogits, d, logits.extents[d], "the extents of logits");
  check_adjacent(operation, "dlogits", dlogits);
  const named_argument total{"total_weight", options.total_weight};
  const bool divides = options.reduction == loss_reduction::mean;
  if (is_given(total.view)) {
    check.input(total.name, total.view);
    check_numbers_of_rows(operation, check, total, 1, "one number");
  } else if (divides) {
    refuse(operation, "total_weight is missing; the mean divides by that of the forward call");
  }
  const named_argument to{"dlogits", dlogits};
  if (!same_view(dlogits, logits)) check.apart("dlogits", dlogits, "logits", logits);
  check_apart(check, to,
              {{"targets", targets}, {"lse", lse}, {"dloss", dloss}, {"weights", options.weights}, total});
  if (rows == 0) return;
  problem.of.lse = numbers_of(lse);
  problem.dlosses = sums ? row_numbers{dloss.address, 0} : numbers_of(dloss);
  problem.total_weight = divides ? total.view.address : 0;
  problem.dlogits = {dlogits.address, dlogits.strides[0]};

  row_plan plan;
  plan.is_newer = device.target.sm >= 90;
  plan.vectors = has_pieces(logits) && has_pieces(dlogits);
  // Few rows: several blocks share each one, with a batch or more for each thread.
  const std::uint64_t groups = row_blocks(problem.of.rows, problem.of.lanes_log);
  const std::uint64_t wanted = std::uint64_t{8} * device.multiprocessors,
                      batches = problem.of.size / 8 / row_threads;
  while (groups << problem.parts_log < wanted && std::uint64_t{2} << problem.parts_log <= batches)
    ++problem.parts_log;
  plan.blocks = static_cast<std::uint32_t>(groups << problem.parts_log);
  variant_of(cross_entropy_backward_variants(), logits.type, plan).run(s, plan, problem);
}

}  // namespace detail

std::uint64_t cross_entropy_workspace_bytes(const any_view& logits) {
  const auto rows = static_cast<std::uint64_t>(logits.extents[0]);
  return (workspace_numbers(rows) * sizeof(f32) + 255) / 256 * 256;
}

void cross_entropy_warmup(const runtime::device& gpu, element_kind kind) {
  if (!is_wide(kind))
    detail::refuse("cross_entropy_warmup",
                   "elements that cross_entropy does not take; they are f32, f16 or bf16");
  for (const bool vectors : {false, true}) {
    row_plan plan;
    plan.vectors = vectors;
    plan.is_newer = gpu.properties().target.sm >= 90;
    gpu.warmup(*cross_entropy_variant_for(kind, vectors).image);
    gpu.warmup(*variant_of(cross_entropy_backward_variants(), kind, plan).image);
  }
  gpu.warmup(cross_entropy_totals_image());
}

std::vector<const ptx::kernel_image*> cross_entropy_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_cross_entropy_kernels(list);
  return list;
}

}  // namespace kaio::ops
