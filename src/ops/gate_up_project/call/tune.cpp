// Measures a gate_up_project on memory of its own, in one launch and by products.

#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/buffer.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/choice/measure.hpp"
#include "ops/gate_up_project/choice/plan.hpp"
#include "ops/gate_up_project/common/resolve.hpp"
#include "ops/weight_only/call/trial.hpp"

namespace kaio::ops {

namespace {

class gate_up_trial {
 public:
  gate_up_trial(const device& gpu, const detail::gate_up_arguments& call, std::uint64_t workspace,
                const buffer<u32>& pattern)
      : memory_(gpu), call_(call), weights_(*call.weights), options_(*call.options) {
    memory_.replace(call_.x, &pattern);
    memory_.replace(call_.out);
    for (std::uint32_t i = 0; i < weights_.count; ++i) replace_weight(memory_, weights_.of[i], pattern);
    memory_.replace(options_.gate_bias.view);
    memory_.replace(options_.up_bias.view);
    memory_.replace(options_.x_scale);
    memory_.replace(options_.x_groups);
    options_.workspace = memory_.add_workspace(workspace);
  }
  void run(const stream& s, std::string_view variant) const {
    gate_up_project_options options = options_;
    options.variant = variant;
    detail::run_gate_up(s, {call_.operation, call_.x, call_.out, &weights_, &options});
  }
  std::uint64_t bytes() const { return memory_.bytes(); }

 private:
  stand_ins memory_;
  detail::gate_up_arguments call_;
  gate_up_weights weights_;
  gate_up_project_options options_;
};

}  // namespace

tune_report tune_gate_up_project(const device& gpu, const any_view& x, const gate_up_weights& weights,
                                 const any_view& out, const gate_up_project_options& options,
                                 const tune_options& how) {
  gate_up_project_options any = options;
  any.variant = {};
  any.x_norm = {};
  any.workspace = {};
  const detail::gate_up_arguments arguments{"tune_gate_up_project", x, out, &weights, &any};
  const detail::gate_up_call call = detail::resolve_gate_up(gpu.identity(), arguments);
  if (call.empty()) return {};
  const stream& s = gpu.stream();
  const std::string before(gate_up_project_choice(s, x, weights, out, any).name);
  any.variant = separate;
  const std::uint64_t workspace = gate_up_project_workspace_bytes(s, x, weights, out, any);
  const buffer<u32> pattern = make_pattern_of(gpu, x.type);
  const auto trials =
      make_trials<gate_up_trial>(gpu, [&] { return gate_up_trial(gpu, arguments, workspace, pattern); });
  return measure_choices(
      gpu, choices_of_gate_up(arguments, call, gpu.properties()), trials,
      [](std::string_view name) { return name; },
      [](const stream& on, const gate_up_trial& t, std::string_view name) { t.run(on, name); }, before,
      tuning_key(arguments, call), how);
}

}  // namespace kaio::ops
