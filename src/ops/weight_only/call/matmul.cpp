// Calls of matmul_w4.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/runtime/device.hpp>

#include <string_view>

#include "ops/choice/strict.hpp"
#include "ops/weight_only/call/ordered.hpp"
#include "ops/weight_only/choice/plan.hpp"
#include "ops/weight_only/common/as_matrix.hpp"
#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/common/resolve.hpp"

namespace kaio::ops {

namespace detail {

namespace {

// Rewrites a call with ordered weights as a call without an order, and plans it. Calls f with both if the
// workspace has room; for the choice alone, also if no workspace is given. False: f was not called, as there
// is no room or the call keeps its order.
template <class F>
bool if_without_act_order(const void* device, const device_properties& properties,
                          const matmul_w4_arguments& arguments, bool choice_alone, const F& f) {
  if (!w4_without_act_order::is_for(arguments, properties)) return false;
  const workspace_view& workspace = arguments.options->workspace;
  const bool is_free = choice_alone && workspace.address == 0;
  const w4_without_act_order plain(arguments);
  if (!is_free && workspace.bytes < plain.first()) return false;
  const planned_w4 planned = plan_w4(device, properties, plain.arguments(), choice_alone);
  if (!planned.choice.exists() || (!is_free && workspace.bytes < plain.first() + planned.workspace))
    return false;
  f(plain, planned);
  return true;
}

bool run_without_act_order(const stream& s, const matmul_w4_arguments& arguments) {
  if (!w4_without_act_order::is_for(arguments, s.properties())) return false;
  const w4_problem act_order =
      resolve_w4_product(s.device_identity(), arguments, false);  // throws for wrong arguments
  return if_without_act_order(s.device_identity(), s.properties(), arguments, false,
                              [&](const w4_without_act_order& plain, const planned_w4& planned) {
                                validation(arguments.operation, s.device_identity())
                                    .workspace("workspace", arguments.options->workspace.facts(),
                                               plain.first() + planned.workspace, 16);
                                run_order_w4_x(s, plain.gather(act_order));
                                run_planned_w4(s, plain.arguments(), planned);
                              });
}

// The plan of a call on a device. Throws if its workspace is too small.
planned_w4 checked_plan(const void* identity, const device_properties& device,
                        const matmul_w4_arguments& arguments) {
  const planned_w4 planned = plan_w4(identity, device, arguments, false);
  if (planned.choice.exists())
    validation(arguments.operation, identity)
        .workspace("workspace", arguments.options->workspace.facts(), planned.workspace, 16);
  return planned;
}

}  // namespace

void run_matmul_w4(const stream& s, const matmul_w4_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(arguments.operation);
  const void* const identity = s.device_identity();
  if (arguments.options->variant.empty())
    check_strictly(s, [&](const device_properties& other) {
      const auto has_room = [](const w4_without_act_order&, const planned_w4&) {};
      if (!if_without_act_order(identity, other, arguments, false, has_room))
        checked_plan(identity, other, arguments);
    });
  if (run_without_act_order(s, arguments)) return;
  const planned_w4 planned = checked_plan(identity, device, arguments);
  if (planned.choice.exists()) run_planned_w4(s, arguments, planned);
}

std::uint64_t workspace_of_matmul_w4(const stream& s, const matmul_w4_arguments& arguments) {
  return bytes_for_all(s, [&](const device_properties& device) {
    std::uint64_t bytes = plan_w4(s.device_identity(), device, arguments, true).workspace;
    if_without_act_order(s.device_identity(), device, arguments, true,
                         [&](const w4_without_act_order& plain, const planned_w4& planned) {
                           bytes = plain.first() + planned.workspace;
                         });
    return bytes;
  });
}

kernel_choice choice_of_matmul_w4(const stream& s, const matmul_w4_arguments& arguments) {
  const device_properties& device = s.properties();
  planned_w4 planned = plan_w4(s.device_identity(), device, arguments, true);
  if_without_act_order(s.device_identity(), device, arguments, true,
                       [&](const w4_without_act_order&, const planned_w4& plain) { planned = plain; });
  const w4_choice& choice = planned.choice;
  if (!choice.exists()) return {};
  if (choice.slice != 0) return {w4_as_matrix, w4_slices(planned.problem.w, choice.slice)};
  return {choice.variant->name(), planned.problem.splits};
}

void warm_up_matmul_w4(const runtime::device& gpu, const matmul_w4_arguments& arguments) {
  const auto warm_up = [&](const matmul_w4_options& of) {
    matmul_w4_arguments own = arguments;
    own.options = &of;
    const planned_w4 planned = plan_w4(gpu.identity(), gpu.properties(), own, true);
    const w4_choice& choice = planned.choice;
    if (choice.slice != 0) {
      warm_up_w4_as_matrix(gpu, own, planned.problem, choice.slice);
    } else if (choice.variant != nullptr) {
      gpu.warmup(*choice.variant->image);
      if (planned.workspace != 0) gpu.warmup(matmul_w4_combine_image(gpu.properties()));
    }
    return choice.slice != 0 || (choice.variant != nullptr && choice.variant->rounds);
  };
  const matmul_w4_options& options = *arguments.options;
  if_without_act_order(gpu.identity(), gpu.properties(), arguments, true,
                       [&](const w4_without_act_order& plain, const planned_w4&) {
                         gpu.warmup(order_w4_x_image(gpu.properties()));
                         warm_up_matmul_w4(gpu, plain.arguments());
                       });
  if (!warm_up(options) || !options.variant.empty()) return;
  // Also loads what a call with a smaller workspace runs.
  matmul_w4_options small = options;
  small.workspace.address = 256;  // an address without bytes
  small.workspace.bytes = 0;
  warm_up(small);
  small.exact_weights = true;
  warm_up(small);
}

void check_own_w4(std::string_view operation, const w4_shape& shape, const w4_shape& wanted) {
  if (shape.codes != wanted.codes || shape.scales != wanted.scales ||
      shape.own_neighbours != wanted.own_neighbours || shape.own_slots != wanted.own_slots)
    refuse_w4(operation, "the shape of the weights is not that of these codes; shape_for gives it");
}

}  // namespace detail

std::uint64_t matmul_w4_workspace_bytes(const stream& s, const any_view& x, const w4_weights& w,
                                        const matmul_w4_options& options) {
  return detail::workspace_of_matmul_w4(s, {"matmul_w4_workspace_bytes", x, {}, &w, &options});
}

kernel_choice matmul_w4_choice(const stream& s, const any_view& x, const w4_weights& w,
                               const matmul_w4_options& options) {
  return detail::choice_of_matmul_w4(s, {"matmul_w4_choice", x, {}, &w, &options});
}

void matmul_w4_warmup(const runtime::device& gpu, const any_view& x, const w4_weights& w,
                      const matmul_w4_options& options) {
  detail::warm_up_matmul_w4(gpu, {"matmul_w4_warmup", x, {}, &w, &options});
}

}  // namespace kaio::ops
