// From a call of gate_up_project to its products, and to the kernel that combines them.

#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/ops/weight_only/gemv/launch.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <string>
#include <string_view>

#include "ops/choice/recent_choices.hpp"
#include "ops/choice/signature.hpp"
#include "ops/choice/strict.hpp"
#include "ops/families.hpp"
#include "ops/gate_up_project/choice/plan.hpp"
#include "ops/gate_up_project/choice/variant.hpp"
#include "ops/gate_up_project/combine/combine.hpp"
#include "ops/gate_up_project/common/resolve.hpp"
#include "ops/matmul/call/view.hpp"
#include "ops/matmul/call/workspace.hpp"
#include "ops/norm/call/in_front.hpp"
#include "ops/shared/row_checks.hpp"
#include "ops/weight_only/choice/plan.hpp"
#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/common/resolve.hpp"
#include "ops/weight_only/gemv/norm_of_row.hpp"
#include "ops/weight_only/gemv/one_row.hpp"

namespace kaio::ops {

namespace {

// The view, or a null view if it is not given.
matmul_view given(const any_view& v) { return detail::is_given(v) ? matmul_view_of(v) : matmul_view(); }

// The options of each kind of product, with views as it takes them.
struct products {
  const detail::gate_up_arguments& a;
  const detail::gate_up_call& call;

  bool of_i8() const { return a.x.type == element_kind::i8; }
  bool of_fp8() const { return a.x.type == element_kind::e4m3 || a.x.type == element_kind::e5m2; }
  constant_inputs constant() const { return a.options->constant; }
  matmul_int8_options int8_options(const projection_weight& w) const {
    matmul_int8_options options;
    options.scale_a = given(a.options->x_scale);
    options.scale_b = given(w.scale);
    options.constant = constant();
    return options;
  }
  matmul_fp8_options fp8_options(const projection_weight& w) const {
    matmul_fp8_options options;
    options.scale_a = given(a.options->x_scale);
    options.scale_b = given(w.scale);
    options.groups_a = given(a.options->x_groups);
    options.blocks_b = transposed(given(w.blocks));
    options.constant = constant();
    return options;
  }
  matmul_w4_options packed_options() const {
    matmul_w4_options options;
    options.workspace = detail::rest_of(a.options->workspace, call.product_bytes);
    options.constant = a.options->constant;
    options.exact_weights = a.options->exact_weights;
    return options;
  }
  matmul_options plain_options() const {
    matmul_options options;
    options.constant = constant();
    return options;
  }

  // The workspace of a product, in addition to the memory of both products.
  std::uint64_t bytes_of(const stream& s, const detail::gate_up_product& product) const {
    const projection_weight& w = *product.weight;
    if (w.is_packed) return matmul_w4_workspace_bytes(s, call.x, w.packed, packed_options());
    if (of_i8() || of_fp8()) return 0;
    return detail::workspace_of_matmul(a.operation, s, given(call.x), transposed(given(w.matrix)),
                                       given(product.to), plain_options());
  }
  std::uint64_t workspace_bytes(const stream& s) const {
    std::uint64_t more = 0;
    for (std::uint32_t i = 0; i < call.count; ++i) more = std::max(more, bytes_of(s, call.products[i]));
    return call.product_bytes + more;
  }

  void run(const stream& s, const detail::gate_up_product& product) const {
    const projection_weight& w = *product.weight;
    workspace_view rest = detail::rest_of(a.options->workspace, call.product_bytes);
    rest.bytes = bytes_of(s, product);
    if (w.is_packed) {
      matmul_w4_options options = packed_options();
      options.workspace = rest.bytes != 0 ? rest : workspace_view{};
      detail::run_matmul_w4(s, {a.operation, call.x, product.to, &w.packed, &options});
      return;
    }
    const matmul_view x = given(call.x), weight = transposed(given(w.matrix)), to = given(product.to);
    if (of_i8()) {
      const matmul_int8_options options = int8_options(w);
      detail::run_matmul_int8(s, {a.operation, x, weight, to, &options});
    } else if (of_fp8()) {
      const matmul_fp8_options options = fp8_options(w);
      detail::run_matmul_fp8(s, {a.operation, x, weight, to, &options});
    } else {
      matmul_options options = plain_options();
      if (rest.bytes != 0) {
        options.workspace.address = rest.address;
        options.workspace.bytes = rest.bytes;
        options.workspace.device = rest.device;
      }
      detail::run_matmul(s, {a.operation, x, weight, to, &options});
    }
  }

  void warm_up(const runtime::device& gpu, const detail::gate_up_product& product) const {
    const projection_weight& w = *product.weight;
    if (w.is_packed) return matmul_w4_warmup(gpu, call.x, w.packed, packed_options());
    const matmul_view x = given(call.x), weight = transposed(given(w.matrix)), to = given(product.to);
    if (of_i8()) return matmul_int8_warmup(gpu, x, weight, to, int8_options(w));
    if (of_fp8()) return matmul_fp8_warmup(gpu, x, weight, to, fp8_options(w));
    matmul_warmup(gpu, x, weight, to, plain_options());
  }
};

// Why no fused kernel, for gate and up at once, can run a call; empty: those for its codes and device can.
std::string_view refusal(const detail::gate_up_arguments& a, const detail::gate_up_call& call) {
  const projection_weight& w = a.weights->of[0];
  if (call.count != 1) return "the weights are two";
  if (!w.is_packed) return "the weights are not packed";
  if (w.packed.shape.offsets) return "the weights have offsets";
  if (w.packed.shape.factors) return "the weights have factors";
  if (call.problem.columns % w4_tile_n != 0) return "the columns of out are no multiple of 32";
  if (a.out.type != a.x.type) return "out has another element type than x";
  return {};
}

std::string_view refusal(const gate_up_variant& v, const detail::gate_up_arguments& a,
                         const detail::gate_up_call& call, const device_properties& device) {
  if (!are_w4_codes(a.weights->of[0].packed.shape, v.codes)) return "it is for other codes";
  if (call.x.extents[0] > v.rows) return "x has more rows";
  if (v.one_row != nullptr)
    if (const std::string_view why = refusal_of_one_row(*v.one_row, a.weights->of[0].packed.shape, call.x);
        !why.empty())
      return why;
  return device_refusal(v.image->needs, device);
}

using gate_up_signature = words_signature<5>;

// The signature of a call that fused kernels can run.
gate_up_signature signature_of(const detail::gate_up_arguments& a, const detail::gate_up_call& call) {
  const w4_shape& w = a.weights->of[0].packed.shape;
  packed_word kind;
  kind.add(call.problem.type, 2)
      .add(static_cast<std::uint64_t>(w.scales), 4)
      .add(static_cast<std::uint64_t>(w.codes), 4);
  for (const bool is : {w.zero_points, w.act_order, w.factors, w.offsets, detail::begins_at(call.x, 16)})
    kind.add(is, 1);
  const auto number = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
  return {{number(call.x.extents[0]), number(call.x.extents[1]), call.problem.columns, number(w.group),
           kind.value()}};
}

// The choice that tuning has found; empty: none.
std::string_view tuned_choice(const detail::gate_up_arguments& a, const detail::gate_up_call& call,
                              const device_properties& device) {
  thread_local recent_choices<gate_up_signature, std::string_view> recent;
  return recent.find(signature_of(a, call), device, [&] {
    const std::string found = find_tuned(device, tuning_key(a, call));
    for (const std::string_view name : choices_of_gate_up(a, call, device))
      if (name == found) return name;
    return std::string_view();
  });
}

// Whether the workspace has room for products, for a call that fused kernels can run. Without a workspace:
// whether only the choice is asked for.
bool has_room(const void* device, const device_properties& properties, const detail::gate_up_arguments& a,
              const detail::gate_up_call& call, bool choice_alone) {
  const workspace_view& workspace = a.options->workspace;
  if (workspace.address == 0) return choice_alone;
  const matmul_w4_options options = products{a, call}.packed_options();
  const auto product =
      plan_w4(device, properties, {a.operation, call.x, {}, &a.weights->of[0].packed, &options}, true);
  return workspace.bytes >= call.product_bytes + product.workspace;
}

// The kernel of a call; nullptr: products, and what combines them.
const gate_up_variant* choose(const void* identity, const device_properties& device,
                              const detail::gate_up_arguments& a, const detail::gate_up_call& call,
                              bool choice_alone) {
  std::string_view forced = a.options->variant;
  const std::string_view why = refusal(a, call);
  if (forced.empty() && why.empty()) forced = tuned_choice(a, call, device);
  if (forced == separate && a.options->variant.empty() && !has_room(identity, device, a, call, choice_alone))
    forced = {};
  if (forced == separate || (forced.empty() && !why.empty())) return nullptr;
  for (const gate_up_variant& v : gate_up_w4_variants()) {
    if (static_cast<u32>(v.type) != call.problem.type && why.empty()) continue;
    const std::string_view reason = why.empty() ? refusal(v, a, call, device) : why;
    if (forced.empty() && reason.empty()) return &v;
    if (forced.empty() || v.image->name != forced) continue;
    if (reason.empty()) return &v;
    detail::refuse(a.operation, "variant " + std::string(forced) + " cannot run this call: " +
                                    std::string(reason) + "; leave it out, or take \"separate\"");
  }
  if (!forced.empty())
    detail::refuse(a.operation, "there is no variant " + std::string(forced) +
                                    " for these types; leave it out, or take \"separate\"");
  return nullptr;
}

struct planned {
  detail::gate_up_call call;
  const gate_up_variant* fused = nullptr;
  w4_one_row_work norm{};  // norm of x that the fused kernel applies
};

planned plan(const void* device, const device_properties& properties,
             const detail::gate_up_arguments& arguments, bool choice_alone) {
  planned result{.call = detail::resolve_gate_up(device, arguments)};
  if (!result.call.empty()) result.fused = choose(device, properties, arguments, result.call, choice_alone);
  return result;
}

using gate_up_without_norm = detail::call_without_norm<detail::gate_up_arguments, gate_up_project_options>;

// The plan of a call checked with its norm, as `call`: the kernel for one row that applies the norm itself.
// Without a kernel, rms_norm comes first.
planned plan_with_norm(const device_properties& properties, const detail::gate_up_arguments& arguments,
                       const detail::gate_up_call& call) {
  planned result{.call = call};
  // The norm is in the order of x, not in act-order.
  if (!refusal(arguments, call).empty() || arguments.weights->of[0].packed.shape.act_order) return result;
  const std::string_view forced = arguments.options->variant;
  for (const gate_up_variant& v : gate_up_w4_variants())
    if (v.one_row != nullptr && static_cast<u32>(v.type) == call.problem.type &&
        (forced.empty() || forced == v.image->name) && refusal(v, arguments, call, properties).empty() &&
        detail::set_norm_of_row(result.norm, arguments.x, arguments.options->x_norm))
      result.fused = &v;
  return result;
}

// Calls f(call, planned, norm_first). If norm_first, rms_norm runs before and the call has no norm. Else the
// kernel applies the norm, if there is one.
template <class F>
auto for_planned(const void* device, const device_properties& properties,
                 const detail::gate_up_arguments& arguments, bool choice_alone, const F& f) {
  if (!detail::is_given(arguments.options->x_norm.weight))
    return f(arguments, plan(device, properties, arguments, choice_alone), false);
  const detail::gate_up_call call = detail::resolve_gate_up(device, arguments);
  if (call.empty()) return f(arguments, planned{.call = call}, false);
  if (const planned of = plan_with_norm(properties, arguments, call); of.fused != nullptr)
    return f(arguments, of, false);
  const gate_up_without_norm rest(arguments, true);
  return f(rest.arguments, plan(device, properties, rest.arguments, choice_alone), true);
}

void run_fused(const stream& s, const detail::gate_up_arguments& a, const planned& of) {
  const gate_up_variant& v = *of.fused;
  const w4_weights& weights = a.weights->of[0].packed;
  matmul_w4_options options;
  options.constant = a.options->constant;
  w4_problem p =
      detail::resolve_w4_product(s.device_identity(), {a.operation, of.call.x, {}, &weights, &options}, true);
  p.w = detail::check_w4_weights(a.operation, s.device_identity(), weights, true);
  set_w4_numbers(p);
  p.unit *= v.unit;
  const u32 units = p.w.n / v.columns;
  p.m_tiles = divisor::of(1);
  p.n_tiles = divisor::of(units);
  p.splits =
      v.one_row != nullptr
          ? plan_w4_one_row(*v.one_row, units, v.columns / w4_tile_n, p.w.tiles_k, 0, s.properties()).splits
          : 1;
  p.steps = p.w.tiles_k / p.splits;
  p.rest = p.w.tiles_k % p.splits;
  v.run(s, p, of.call.problem, of.norm);
}

}  // namespace

std::vector<std::string_view> choices_of_gate_up(const detail::gate_up_arguments& a,
                                                 const detail::gate_up_call& call,
                                                 const device_properties& device) {
  std::vector<std::string_view> names;
  if (refusal(a, call).empty())
    for (const gate_up_variant& v : gate_up_w4_variants())
      if (static_cast<u32>(v.type) == call.problem.type && refusal(v, a, call, device).empty())
        names.push_back(v.image->name);
  names.push_back(separate);
  return names;
}

std::string tuning_key(const detail::gate_up_arguments& a, const detail::gate_up_call& call) {
  return signature_of(a, call).text("gate_up");
}

namespace {

std::uint64_t workspace_on(const stream& s, const device_properties& device,
                           const detail::gate_up_arguments& arguments, bool choice_alone) {
  return for_planned(
      s.device_identity(), device, arguments, choice_alone,
      [&](const detail::gate_up_arguments& a, const planned& of, bool norm_first) {
        const std::uint64_t first = norm_first ? detail::bytes_of_normed(arguments.x) : 0;
        return first + (of.call.empty() || of.fused != nullptr ? 0 : products{a, of.call}.workspace_bytes(s));
      });
}

}  // namespace

namespace detail {

void run_gate_up(const stream& s, const gate_up_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(arguments.operation);
  if (arguments.options->variant.empty())
    check_strictly(s, [&](const device_properties& other) {
      const std::uint64_t bytes = workspace_on(s, other, arguments, false);
      validation(arguments.operation, s.device_identity())
          .workspace("workspace", arguments.options->workspace.facts(), bytes, 16);
    });
  for_planned(s.device_identity(), device, arguments, false,
              [&](const gate_up_arguments& a, const planned& of, bool norm_first) {
                if (of.call.empty()) return;
                const products all{a, of.call};
                const std::uint64_t bytes = of.fused != nullptr ? 0 : all.workspace_bytes(s);
                const validation check(arguments.operation, s.device_identity());
                if (norm_first) {
                  check.workspace("workspace", arguments.options->workspace.facts(),
                                  bytes_of_normed(arguments.x) + bytes, 16);
                  run_norm_in_front(s, arguments.x, arguments.options->x_norm, arguments.options->workspace);
                }
                if (of.fused != nullptr) return run_fused(s, a, of);
                check.workspace("workspace", a.options->workspace.facts(), bytes, 16);
                for (std::uint32_t i = 0; i < of.call.count; ++i) all.run(s, of.call.products[i]);
                run_gate_up_combine(s, of.call.problem, of.call.blocks);
              });
}

}  // namespace detail

std::uint64_t gate_up_project_workspace_bytes(const stream& s, const any_view& x,
                                              const gate_up_weights& weights, const any_view& out,
                                              const gate_up_project_options& options) {
  const detail::gate_up_arguments arguments{"gate_up_project_workspace_bytes", x, out, &weights, &options};
  return bytes_for_all(
      s, [&](const device_properties& device) { return workspace_on(s, device, arguments, true); });
}

kernel_choice gate_up_project_choice(const stream& s, const any_view& x, const gate_up_weights& weights,
                                     const any_view& out, const gate_up_project_options& options) {
  return for_planned(
      s.device_identity(), s.properties(), {"gate_up_project_choice", x, out, &weights, &options}, true,
      [](const detail::gate_up_arguments&, const planned& of, bool) {
        if (of.call.empty()) return kernel_choice();
        return kernel_choice{of.fused != nullptr ? std::string_view(of.fused->image->name) : separate};
      });
}

void gate_up_project_warmup(const runtime::device& gpu, const any_view& x, const gate_up_weights& weights,
                            const any_view& out, const gate_up_project_options& options) {
  for_planned(gpu.identity(), gpu.properties(), {"gate_up_project_warmup", x, out, &weights, &options}, true,
              [&](const detail::gate_up_arguments& a, const planned& of, bool norm_first) {
                const detail::gate_up_call& call = of.call;
                if (call.empty()) return;
                if (norm_first) rms_norm_warmup(gpu, x.type);
                if (of.fused != nullptr) return gpu.warmup(*of.fused->image);
                const products all{a, call};
                for (std::uint32_t i = 0; i < call.count; ++i) all.warm_up(gpu, call.products[i]);
                gpu.warmup(gate_up_combine_image(gpu.properties()));
              });
}

std::vector<const ptx::kernel_image*> gate_up_project_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_gate_up_combine_kernels(list);
  list_gate_up_w4_kernels(list);
  return list;
}

}  // namespace kaio::ops
