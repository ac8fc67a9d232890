// Measures a qkv_project on memory of its own, in one launch and by a product.

#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/buffer.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "ops/choice/measure.hpp"
#include "ops/qkv_project/choice/plan.hpp"
#include "ops/qkv_project/common/resolve.hpp"
#include "ops/shared/row_checks.hpp"
#include "ops/weight_only/call/trial.hpp"

namespace kaio::ops {

namespace {

// Allocates heads, next to each other, with the batches and tokens of q.
any_view tensor_of(stand_ins& memory, const any_view& q, std::int64_t heads, std::int64_t size) {
  any_view v = q;
  v.address = 0;
  v.extents[v.rank - 2] = heads;
  v.extents[v.rank - 1] = size;
  std::int64_t stride = 1;
  for (std::uint32_t d = v.rank; d-- > 0; stride *= v.extents[d]) v.strides[d] = stride;
  memory.replace(v);
  return v;
}

// A call on memory of its own. K and V of a cache go into tensors, and all tokens are at position 0.
class qkv_trial {
 public:
  qkv_trial(const device& gpu, const detail::qkv_arguments& call, std::uint64_t workspace,
            const buffer<u32>& pattern)
      : memory_(gpu), call_(call), weights_(*call.weights), outputs_(*call.outputs), options_(*call.options) {
    memory_.replace(call_.x, &pattern);
    for (std::uint32_t i = 0; i < weights_.count; ++i) replace_weight(memory_, weights_.of[i], pattern);
    if (outputs_.cache) {
      const any_view &k = outputs_.cache->k, &v = outputs_.cache->v;
      outputs_.k = tensor_of(memory_, outputs_.q, k.extents[2], k.extents[3]);
      outputs_.v = tensor_of(memory_, outputs_.q, v.extents[2], v.extents[3]);
      outputs_.cache.reset();
    } else {
      memory_.replace(outputs_.k);
      memory_.replace(outputs_.v);
    }
    memory_.replace(outputs_.q);
    for (qkv_vector* v :
         {&options_.q_bias, &options_.k_bias, &options_.v_bias, &options_.q_norm, &options_.k_norm})
      memory_.replace(v->view);
    memory_.replace(options_.x_scale);
    memory_.replace(options_.x_groups);
    forget_places();
    options_.workspace = memory_.add_workspace(workspace);
  }
  void run(const stream& s, const qkv_choice& choice) const {
    qkv_project_options options = options_;
    options.variant = choice.kernel;
    options.splits = choice.splits;
    detail::run_qkv_project(s, {call_.operation, call_.x, &weights_, &outputs_, &options});
  }
  std::uint64_t bytes() const { return memory_.bytes(); }

 private:
  void forget_places() {
    options_.cu_seqlens = {};
    options_.slots = {};
    options_.k_scale = options_.v_scale = {};
    options_.k_scale_out = options_.v_scale_out = {};
    qkv_rotary& rotary = options_.rotary;
    rotary.offsets = {};
    memory_.replace(rotary.cos.view);
    memory_.replace(rotary.sin.view);
    any_view& positions = rotary.positions.view;
    positions = {};
    if (!rotary.cos.view.exists()) return;
    positions.type = element_kind::i32;
    positions.rank = 1;
    positions.extents = {outputs_.q.extents[outputs_.q.rank - 3]};
    positions.strides = {1};
    memory_.replace(positions);
  }

  stand_ins memory_;
  detail::qkv_arguments call_;
  qkv_weights weights_;
  qkv_outputs outputs_;
  qkv_project_options options_;
};

}  // namespace

tune_report tune_qkv_project(const device& gpu, const any_view& x, const qkv_weights& weights,
                             const qkv_outputs& outputs, const qkv_project_options& options,
                             const tune_options& how) {
  qkv_project_options any = options;
  any.variant = {};
  any.splits = 0;
  any.x_norm = {};
  any.workspace = {};
  const detail::qkv_arguments arguments{"tune_qkv_project", x, &weights, &outputs, &any};
  const detail::qkv_call call = detail::resolve_qkv(gpu.identity(), arguments);
  const std::string before = name_of_qkv_choice(gpu, arguments);
  if (before.empty()) return {};
  const std::vector<qkv_choice> choices = qkv_choices(arguments, call, gpu.properties());
  qkv_project_options by_product = any;
  by_product.variant = separate;
  const std::uint64_t workspace = qkv_project_workspace_bytes(gpu.stream(), x, weights, outputs, by_product);
  const buffer<u32> pattern = make_pattern_of(gpu, x.type);
  const auto trials =
      make_trials<qkv_trial>(gpu, [&] { return qkv_trial(gpu, arguments, workspace, pattern); });
  return measure_choices(
      gpu, choices, trials, [](const qkv_choice& c) { return c.name(); },
      [](const stream& s, const qkv_trial& t, const qkv_choice& c) { t.run(s, c); }, before,
      tuning_key(arguments, call), how);
}

}  // namespace kaio::ops
