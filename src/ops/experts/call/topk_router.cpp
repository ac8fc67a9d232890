// Checks calls of topk_router before anything runs, and launches them.

#include <kaio/ops/topk_router.hpp>
#include <kaio/runtime/device.hpp>

#include <cmath>
#include <string>
#include <string_view>

#include "ops/experts/call/checks.hpp"
#include "ops/experts/simt/rows.hpp"
#include "ops/families.hpp"

namespace kaio::ops {

namespace detail {

namespace {
constexpr std::string_view name_of_router = "topk_router";

void check_groups(const topk_router_options& options, std::int64_t experts, std::int64_t k) {
  const auto text = [](std::int64_t x) { return std::to_string(x); };
  const std::int64_t groups = options.groups, kept = options.kept_groups;
  if (groups < 1 || groups > std::int64_t{most_expert_groups} || experts % groups != 0)
    refuse(name_of_router, "groups is " + text(groups) + "; it is from 1 to " + text(most_expert_groups) +
                               " and divides the " + text(experts) + " experts");
  if (kept < 1 || kept > groups)
    refuse(name_of_router, "kept_groups is " + text(kept) + "; it is from 1 to groups, " + text(groups));
  if (kept < groups && options.group_by_best_two && experts / groups < 2)
    refuse(name_of_router, "groups have one expert each, and group_by_best_two is set; clear it");
  const std::int64_t most = experts / groups * kept;
  if (k < 1 || k > std::int64_t{most_chosen_experts} || k > most)
    refuse(name_of_router, "k is " + text(k) + ", the last extent of indices; it is from 1 to " +
                               text(most_chosen_experts) + " and at most " + text(most) +
                               ", the experts of the kept groups");
}
}  // namespace

void run_topk_router(const stream& s, const any_view& logits, const any_view& indices,
                     const any_view& weights, const topk_router_options& options) {
  constexpr std::string_view operation = name_of_router;
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  check.input("logits", logits);
  check.output("indices", indices);
  check.output("weights", weights);
  check_adjacent(operation, "logits", logits);
  check_adjacent(operation, "indices", indices);
  check_adjacent(operation, "weights", weights);
  const std::int64_t tokens = logits.extents[0], experts = logits.extents[1], k = indices.extents[1];
  check.extent("indices", indices, 0, tokens, "the tokens of logits");
  check.extent("weights", weights, 0, tokens, "the tokens of logits");
  check.extent("weights", weights, 1, k, "k, the last extent of indices");
  if (experts < 1 || experts > std::int64_t{most_experts})
    refuse(operation, "argument logits has " + std::to_string(experts) + " experts; it has 1 to " +
                          std::to_string(most_experts));
  check_groups(options, experts, k);
  if (!std::isfinite(options.factor)) refuse(operation, "factor is not finite");
  check.at_most("logits", logits, 0, most_choices / k);
  check.apart("indices", indices, "logits", logits);
  check.apart("weights", weights, "logits", logits);
  check.apart("weights", weights, "indices", indices);
  router_problem problem{};
  if (is_given(options.bias)) {
    const any_view& bias = options.bias;
    check.input("bias", bias);
    check_rank(operation, "bias", bias, 1);
    check_type(operation, "bias", bias, element_kind::f32, "f32");
    check.extent("bias", bias, 0, experts, "the experts of logits");
    check.apart("indices", indices, "bias", bias);
    check.apart("weights", weights, "bias", bias);
    problem.bias = bias.address;
    problem.bias_stride = bias.strides[0];
  }
  if (tokens == 0) return;
  problem.logits = rows_of_experts(logits);
  problem.indices = rows_of_experts(indices);
  problem.weights = rows_of_experts(weights);
  problem.of_group = divisor::of(static_cast<u32>(experts / options.groups));
  problem.type = element_type_of(logits.type);
  problem.tokens = static_cast<u32>(tokens);
  problem.experts = static_cast<u32>(experts);
  problem.k = static_cast<u32>(k);
  problem.groups = static_cast<u32>(options.groups);
  problem.kept_groups = static_cast<u32>(options.kept_groups);
  problem.best_two = options.group_by_best_two ? 1 : 0;
  problem.is_sigmoid = options.score == router_score::sigmoid ? 1 : 0;
  problem.renormalise = options.renormalise ? 1 : 0;
  problem.factor = options.factor;
  launch_router(s, problem);
}

}  // namespace detail

void topk_router_warmup(const runtime::device& gpu) { gpu.warmup(router_image()); }

std::vector<const ptx::kernel_image*> expert_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_experts_kernels(list);
  return list;
}

}  // namespace kaio::ops
