// Checks calls of cross_entropy and of its gradient before anything runs, and launches them.

#include <kaio/ops/cross_entropy.hpp>
#include <kaio/runtime/device.hpp>

#include <string_view>

#include "ops/cross_entropy/call/losses.hpp"
#include "ops/families.hpp"

namespace kaio::ops {

namespace {

using detail::is_given, detail::named_argument, detail::refuse, detail::same_view;

// Checks what both calls take, and returns their parameters.
template <class Options>
cross_entropy_problem resolve(std::string_view operation, const validation& check, const any_view& logits,
                              const any_view& targets, const Options& options) {
  check.input("logits", logits);
  check_adjacent(operation, "logits", logits);
  check_row_counts(operation, logits);
  if (logits.extents[1] == 0) refuse(operation, "argument logits has no classes");
  cross_entropy_problem problem =
      check_terms(operation, check, logits.extents[0], logits.extents[1], targets, options);
  set_logits(problem, logits, 0);
  return problem;
}

bool has_pieces(const any_view& v) {
  return v.extents[1] * v.element_bytes() % piece_bytes == 0 && detail::begins_at(v, piece_bytes);
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
  problem.is_last = 1;
  const std::int64_t rows = logits.extents[0];
  const bool sums = options.reduction != loss_reduction::none;
  const named_argument x{"logits", logits}, of{"targets", targets}, weights{"weights", options.weights};
  check_losses(operation, check, rows, loss, options, {x, of, weights});
  const named_argument lse{"lse", options.lse}, total{"total_weight", options.total_weight};
  if (sums) {
    check.workspace("workspace", options.workspace.facts(), cross_entropy_workspace_bytes(logits),
                    loss_workspace_alignment);
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
  if (sums)
    run_totals(s, options.workspace.address, static_cast<std::uint64_t>(rows), options.reduction, loss,
               options.total_weight);
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
  check_upstream(operation, check, rows, lse, dloss, options);
  check.output("dlogits", dlogits);
  if (dlogits.type != logits.type)
    refuse(operation, "argument dlogits has another element type than logits; cast it");
  for (std::uint32_t d = 0; d < 2; ++d)
    check.extent("dlogits", dlogits, d, logits.extents[d], "the extents of logits");
  check_adjacent(operation, "dlogits", dlogits);
  const named_argument total{"total_weight", options.total_weight};
  const bool divides = options.reduction == loss_reduction::mean;
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
  run_gradient(s, variant_of(cross_entropy_backward_variants(), logits.type, plan), plan, problem);
}

}  // namespace detail

std::uint64_t cross_entropy_workspace_bytes(const any_view& logits) {
  return loss_workspace_bytes(static_cast<std::uint64_t>(logits.extents[0]));
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
