// Measures the kernels of a matmul_w4 or matmul_w8, and divisions of K, on memory of its own.

#include <kaio/ops/tune.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/runtime/buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "ops/weight_only/call/ordered.hpp"
#include "ops/weight_only/call/trial.hpp"
#include "ops/weight_only/choice/plan.hpp"
#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/common/resolve.hpp"

namespace kaio::ops {

namespace {

class w4_trial {
 public:
  w4_trial(const device& gpu, const detail::matmul_w4_arguments& call, std::uint64_t workspace,
           const buffer<u32>& pattern)
      : memory_(gpu), call_(call), options_(*call.options), weights_(*call.weights) {
    memory_.replace(call_.x, &pattern);
    memory_.replace(call_.out);
    memory_.replace(options_.bias);
    replace_w4_weights(memory_, weights_, pattern);
    problem_ = detail::resolve_w4_product(gpu.identity(), arguments(), false);
    w4_family(problem_);
    options_.workspace.address = memory_.add(0, workspace).address();
  }
  const w4_problem& problem() const { return problem_; }
  // The call with that memory.
  detail::matmul_w4_arguments arguments() const {
    detail::matmul_w4_arguments own = call_;
    own.weights = &weights_;
    own.options = &options_;
    return own;
  }
  std::uint64_t bytes() const { return memory_.bytes(); }

 private:
  stand_ins memory_;
  detail::matmul_w4_arguments call_{};
  matmul_w4_options options_;
  w4_weights weights_;
  w4_problem problem_;
};

tune_report tune_product(const device& gpu, detail::matmul_w4_arguments arguments, const tune_options& how) {
  matmul_w4_options options = *arguments.options;
  options.variant = {};
  options.workspace = {};
  arguments.options = &options;
  const device_properties& properties = gpu.properties();
  // With act-order, the product of x in the order of the weights is what runs.
  std::optional<w4_without_act_order> plain;
  if (w4_without_act_order::is_for(arguments, properties)) arguments = plain.emplace(arguments).arguments();
  w4_problem problem = detail::resolve_w4_product(gpu.identity(), arguments, false);
  const planned_w4 before = plan_w4(gpu.identity(), properties, arguments, true);
  if (!before.choice.exists()) return {};
  const auto name_of = [n = problem.w.n](const w4_choice& c) { return c.name(n); };
  std::vector<w4_choice> choices = w4_choices(problem, options, properties);
  if (std::none_of(choices.begin(), choices.end(),
                   [&](const w4_choice& c) { return name_of(c) == name_of(before.choice); }))
    choices.push_back(before.choice);
  std::uint64_t workspace = 0;
  for (const w4_choice& c : choices)
    workspace = std::max(workspace, divide_w4(arguments.operation, problem, c).workspace);

  const buffer<u32> pattern = make_pattern_of(gpu, arguments.x.type);
  const auto trials =
      make_trials<w4_trial>(gpu, [&] { return w4_trial(gpu, arguments, workspace, pattern); });
  return measure_choices(
      gpu, choices, trials, name_of,
      [&](const stream& s, const w4_trial& t, const w4_choice& c) {
        run_planned_w4(s, t.arguments(), divide_w4(arguments.operation, t.problem(), c));
      },
      name_of(before.choice), tuning_key(problem, options), how);
}

}  // namespace

void replace_w4_weights(stand_ins& memory, w4_weights& w, const buffer<u32>& pattern) {
  w4_shape shape = w.shape;
  const w4_layout layout = detail::check_w4_shape("tune", shape);
  stand_in& by = memory.add(w.memory.address, layout.bytes, &pattern);
  if (shape.act_order) {
    std::vector<u32> act_order(static_cast<std::size_t>(shape.k));
    std::iota(act_order.begin(), act_order.end(), 0u);
    by.put(memory.gpu().stream(), layout.rows, act_order);
  }
  w.memory.address = by.address();
  w.memory.bytes = by.bytes();
  w.memory.device = by.device();
}

void replace_weight(stand_ins& memory, projection_weight& w, const buffer<u32>& pattern) {
  if (w.is_packed) return replace_w4_weights(memory, w.packed, pattern);
  memory.replace(w.matrix, &pattern);
  memory.replace(w.scale);
  memory.replace(w.blocks);
}

tune_report tune_matmul_w4(const device& gpu, const any_view& x, const w4_weights& w, const any_view& out,
                           const matmul_w4_options& options, const tune_options& how) {
  return tune_product(gpu, {"tune_matmul_w4", x, out, &w, &options}, how);
}

tune_report tune_matmul_w8(const device& gpu, const any_view& x, const w8_weights& w, const any_view& out,
                           const matmul_w8_options& options, const tune_options& how) {
  const w4_weights weights = detail::as_w4_weights(w);
  return tune_product(gpu, {"tune_matmul_w8", x, out, &weights, &options}, how);
}

}  // namespace kaio::ops
