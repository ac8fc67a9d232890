// From a call of qkv_project to its kernels.

#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/qkv_project/call/product_launch.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ops/choice/recent_choices.hpp"
#include "ops/choice/signature.hpp"
#include "ops/choice/strict.hpp"
#include "ops/norm/call/in_front.hpp"
#include "ops/qkv_project/call/few_rows.hpp"
#include "ops/qkv_project/call/fused.hpp"
#include "ops/qkv_project/choice/plan.hpp"
#include "ops/qkv_project/choice/variant.hpp"
#include "ops/qkv_project/common/product.hpp"
#include "ops/qkv_project/common/resolve.hpp"
#include "ops/shared/row_checks.hpp"
#include "ops/weight_only/gemv/norm_of_row.hpp"

namespace kaio::ops {

namespace {

projection_product product_of(const detail::qkv_arguments& a, const detail::qkv_call& call) {
  return {.operation = a.operation,
          .x = a.x,
          .weights = {a.weights->of.data(), call.count},
          .columns = {call.projections.data(), call.count},
          .tokens = call.tokens,
          .n = call.n,
          .kind = a.outputs->q.type,
          .x_scale = a.options->x_scale,
          .x_groups = a.options->x_groups,
          .workspace = a.options->workspace,
          .constant = a.options->constant,
          .exact_weights = a.options->exact_weights};
}

qkv_product product_in_memory(const qkv_problem& p, const projection_product& product) {
  const auto whole = [](u32 count) { return count % run_size == 0; };
  const bool aligned = whole(p.q.to.size) && whole(p.v.to.size) && whole(p.append.tables.pairs);
  return {.address = product.address(), .row = product.pitch(), .aligned = aligned ? 1u : 0u};
}

// Whether a fused kernel takes less time than a product and then the heads. On sm_90 the kernels with wgmma
// do from 256 tokens on, if K is at most 4096 and their tiles fill the multiprocessors. From 1024 tokens on
// the wider tiles do. Measured on an H200 (docs/ops/qkv_project.md). For fewer tokens and larger K, matmul
// has better tiles.
bool is_faster(const qkv_variant& v, const detail::qkv_call& call, const device_properties& device) {
  if (device.target.sm != 90) return call.tokens > 8 && (v.rows >= 128 || call.tokens <= 64);
  constexpr std::uint64_t fewest = 256, many = 1024, most_k = 4096;
  const double fill = 0.9, fill_of_one_round = v.columns > 128 ? 0.75 : 0.45;
  const bool has_wgmma = v.image->needs.target.arch_specific;
  if (!has_wgmma || call.tokens < fewest || call.k > most_k || (v.columns > 128) != (call.tokens >= many))
    return false;
  // The blocks of a cluster are consecutive along the tokens.
  const std::uint64_t cluster = std::max(v.image->needs.cluster.x, 1u), rows = v.rows * cluster;
  const std::uint64_t units = std::max<std::uint64_t>(device.multiprocessors / cluster, 1);
  const std::uint64_t rounds = ceil_div(ceil_div(call.tokens, rows) * ceil_div(call.n, v.columns), units);
  const double filled =
      static_cast<double>(call.tokens) * call.n / (static_cast<double>(rounds * units * rows) * v.columns);
  return filled >= (rounds == 1 ? fill_of_one_round : fill);
}

// The kernel of a call; nullptr: a product, and then the heads.
const qkv_variant* choose(const detail::qkv_arguments& a, const detail::qkv_call& call,
                          const device_properties& device) {
  const std::string_view forced = a.options->variant;
  if (forced == separate) return nullptr;
  if (a.has_own) {
    if (forced.empty()) return nullptr;
    detail::refuse(a.operation, "variant " + std::string(forced) +
                                    " has no head functions; leave it out, or take \"separate\"");
  }
  const auto families = fused_variants(a.outputs->q.type);
  if (!forced.empty()) {
    for (const auto& family : families)
      for (const qkv_variant& v : family) {
        if (v.image->name != forced) continue;
        const std::string_view why = refusal_of_fused(v, a, call, device);
        if (why.empty()) return &v;
        detail::refuse(a.operation, "variant " + std::string(forced) + " cannot run this call: " +
                                        std::string(why) + "; leave it out, or take \"separate\"");
      }
    detail::refuse(a.operation, "there is no variant " + std::string(forced) +
                                    " for these types; leave it out, or take \"separate\"");
  }
  for (const auto& family : families)
    for (const qkv_variant& v : family)
      if (is_faster(v, call, device) && refusal_of_fused(v, a, call, device).empty()) return &v;
  return nullptr;
}

void run_fused(const stream& s, const detail::qkv_arguments& a, const detail::qkv_call& call,
               const qkv_variant& v) {
  const any_view x = detail::rows_of_x(a.x);
  const qkv_w16_weights matrices = matrices_of(a, call);
  const qkv_fused_call fused{.x = x.address,
                             .x_bytes = x.bytes,
                             .device = x.device,
                             .x_row = x.extents[0] > 1 ? x.strides[0] : (x.extents[1] + 7) / 8 * 8,
                             .w_row = matrices.row,
                             .w = matrices.at,
                             .n = call.n,
                             .k = call.k,
                             .heads = call.problem};
  v.run(s, fused);
}

void check_follows(const detail::qkv_arguments& arguments, const detail::qkv_call& call) {
  bool needs = is_quantised(arguments.x.type);
  for (const projection_weight& w : arguments.weights->of) needs = needs || w.is_packed;
  if (needs && !call.follows)
    detail::refuse(arguments.operation,
                   "argument x has batches that do not follow each other, with weights of 8 or 4 bits; copy "
                   "it to memory of its own");
}

struct planned {
  detail::qkv_call call{};
  qkv_few_rows few{};
  const qkv_variant* fused = nullptr;
  // nullptr: a product, and then the heads.
  const ptx::kernel_image* image() const {
    return few.variant != nullptr ? few.variant->image : fused != nullptr ? fused->image : nullptr;
  }
};

using qkv_without_norm = detail::call_without_norm<detail::qkv_arguments, qkv_project_options>;

bool has_norm(const detail::qkv_arguments& a) { return detail::is_given(a.options->x_norm.weight); }

using qkv_signature = words_signature<8>;

// The signature of a call: what is known before there is a workspace.
qkv_signature signature_of(const detail::qkv_arguments& a, const detail::qkv_call& call) {
  const projection_weight& w = a.weights->of[0];
  const w4_shape& packed = w.packed.shape;
  const qkv_problem& p = call.problem;
  packed_word kind;
  kind.add(p.append.type, 2).add(static_cast<std::uint64_t>(a.x.type), 4).add(call.count, 2);
  kind.add(static_cast<std::uint64_t>(packed.codes), 4).add(static_cast<std::uint64_t>(packed.scales), 4);
  for (const bool is :
       {w.is_packed, detail::begins_at(a.x, 16), packed.zero_points, packed.act_order, packed.offsets,
        a.outputs->cache.has_value(), p.has_norms != 0, p.append.tables.pairs != 0,
        refusal_of_heads(p).empty(), refusal_of_matrices(a, call).empty(), has_tensor_maps(a, call)})
    kind.add(is, 1);
  return {{call.tokens, call.k, p.q.heads, p.k.heads, p.q.to.size, p.v.to.size,
           static_cast<std::uint64_t>(packed.group), kind.value()}};
}

// The choice that tuning has found; without a kernel if it has found none.
qkv_choice tuned_choice(const detail::qkv_arguments& a, const detail::qkv_call& call,
                        const device_properties& device) {
  thread_local recent_choices<qkv_signature, qkv_choice> recent;
  return recent.find(signature_of(a, call), device, [&] {
    const std::string found = find_tuned(device, tuning_key(a, call));
    if (!found.empty())
      for (const qkv_choice& c : qkv_choices(a, call, device))
        if (c.name() == found) return c;
    return qkv_choice();
  });
}

// The plan of a choice. If the choice has no splits, the options' splits; if it has no kernel, the best one.
planned plan_choice(const void* device, const device_properties& properties, detail::qkv_arguments arguments,
                    const detail::qkv_call& call, const qkv_choice& choice) {
  qkv_project_options options = *arguments.options;
  options.variant = choice.kernel;
  if (choice.splits != 0) options.splits = choice.splits;
  arguments.options = &options;
  planned result{.call = call};
  result.few = choose_qkv_few_rows(device, properties, arguments, call);
  if (result.few.variant == nullptr) result.fused = choose(arguments, call, properties);
  return result;
}

// Whether the workspace has room for a product. Without a workspace: whether only the choice is asked for.
bool has_room(const void* device, const device_properties& properties, const detail::qkv_arguments& a,
              const detail::qkv_call& call, bool choice_alone) {
  const workspace_view& workspace = a.options->workspace;
  if (workspace.address == 0) return choice_alone;
  return workspace.bytes >= product_of(a, call).workspace_bytes(device, properties);
}

planned plan(const void* device, const device_properties& properties, const detail::qkv_arguments& arguments,
             bool choice_alone) {
  const detail::qkv_call call = detail::resolve_qkv(device, arguments);
  if (call.empty()) return {.call = call};
  check_follows(arguments, call);
  const qkv_project_options& options = *arguments.options;
  if (options.variant.empty() && options.splits == 0 && !arguments.has_own) {
    const qkv_choice tuned = tuned_choice(arguments, call, properties);
    if (!tuned.kernel.empty() &&
        (tuned.kernel != separate || has_room(device, properties, arguments, call, choice_alone)))
      return plan_choice(device, properties, arguments, call, tuned);
  }
  const std::string_view named = options.variant;
  const std::size_t colon = named.find(':');
  return plan_choice(device, properties, arguments, call, {named.substr(0, colon), splits_of_name(named)});
}

// The plan of a call checked with its norm, as `call`: the kernel for one row that applies the norm itself.
// Without a kernel, rms_norm comes first.
planned plan_with_norm(const void* device, const device_properties& properties,
                       const detail::qkv_arguments& arguments, const detail::qkv_call& call) {
  const qkv_without_norm plain(arguments, false);
  planned result{.call = call};
  result.few = choose_qkv_few_rows(device, properties, plain.arguments, call, true);
  // The norm is in the order of x, not in act-order.
  if (result.few.variant != nullptr &&
      (arguments.weights->of[0].packed.shape.act_order ||
       !detail::set_norm_of_row(result.few.call.norm, arguments.x, arguments.options->x_norm)))
    result.few = {};
  return result;
}

// Calls f(call, planned, norm_first). If norm_first, rms_norm runs before and the call has no norm. Else the
// kernel applies the norm, if there is one.
template <class F>
auto for_planned(const void* device, const device_properties& properties,
                 const detail::qkv_arguments& arguments, bool choice_alone, const F& f) {
  if (!has_norm(arguments)) return f(arguments, plan(device, properties, arguments, choice_alone), false);
  const detail::qkv_call call = detail::resolve_qkv(device, arguments);
  if (call.empty()) return f(arguments, planned{.call = call}, false);
  if (const planned of = plan_with_norm(device, properties, arguments, call); of.few.variant != nullptr)
    return f(arguments, of, false);
  const qkv_without_norm rest(arguments, true);
  return f(rest.arguments, plan(device, properties, rest.arguments, choice_alone), true);
}

std::uint64_t workspace_of(const void* device, const device_properties& properties,
                           const detail::qkv_arguments& arguments, const planned& of) {
  return of.call.empty() || of.image() != nullptr
             ? 0
             : product_of(arguments, of.call).workspace_bytes(device, properties);
}

void check_everywhere(const stream& s, const detail::qkv_arguments& arguments) {
  if (!arguments.options->variant.empty()) return;
  const void* const identity = s.device_identity();
  check_strictly(s, [&](const device_properties& device) {
    for_planned(identity, device, arguments, false,
                [&](const detail::qkv_arguments& a, const planned& of, bool norm_first) {
                  const std::uint64_t first = norm_first ? detail::bytes_of_normed(arguments.x) : 0;
                  validation(arguments.operation, identity)
                      .workspace("workspace", arguments.options->workspace.facts(),
                                 first + workspace_of(identity, device, a, of), 16);
                });
  });
}

// Runs the norm of x into the first bytes of the workspace, after all checks that may refuse the call.
// `after`: bytes of workspace that follow. `product`: the product, if what follows is not one launch.
void run_norm(const stream& s, const detail::qkv_arguments& a, std::uint64_t after,
              const projection_product* product) {
  validation(a.operation, s.device_identity())
      .workspace("workspace", a.options->workspace.facts(), detail::bytes_of_normed(a.x) + after, 16);
  if (product != nullptr) product->check_kernels(s);
  detail::run_norm_in_front(s, a.x, a.options->x_norm, a.options->workspace);
}

detail::launched_qkv_product launch_product(const stream& s, const detail::qkv_arguments& arguments,
                                            const detail::qkv_call& call) {
  const projection_product product = product_of(arguments, call);
  validation(arguments.operation, s.device_identity())
      .workspace("workspace", arguments.options->workspace.facts(),
                 product.workspace_bytes(s.device_identity(), s.properties()), 16);
  product.run(s);
  return {call.problem, product_in_memory(call.problem, product)};
}

}  // namespace

std::vector<qkv_choice> qkv_choices(const detail::qkv_arguments& a, const detail::qkv_call& call,
                                    const device_properties& device) {
  std::vector<qkv_choice> choices;
  list_qkv_few_rows(choices, a, call, device);
  for (const auto& family : fused_variants(a.outputs->q.type))
    for (const qkv_variant& v : family)
      if (refusal_of_fused(v, a, call, device).empty()) choices.push_back({v.image->name});
  choices.push_back({separate});
  return choices;
}

std::string tuning_key(const detail::qkv_arguments& a, const detail::qkv_call& call) {
  return signature_of(a, call).text("qkv_project");
}

std::string name_of_qkv_choice(const device& gpu, const detail::qkv_arguments& arguments) {
  const planned of = plan(gpu.identity(), gpu.properties(), arguments, true);
  if (of.call.empty()) return {};
  if (of.few.variant != nullptr) return name_with_splits(of.image()->name, of.few.call.product.splits);
  return std::string(of.image() != nullptr ? std::string_view(of.image()->name) : separate);
}

namespace detail {

void run_qkv_project(const stream& s, const qkv_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(arguments.operation);
  check_everywhere(s, arguments);
  for_planned(s.device_identity(), device, arguments, false,
              [&](const qkv_arguments& a, const planned& of, bool norm_first) {
                if (of.call.empty()) return;
                if (norm_first) {
                  const projection_product product = product_of(a, of.call);
                  const bool is_separate = of.few.variant == nullptr && of.fused == nullptr;
                  run_norm(s, arguments, workspace_of(s.device_identity(), device, a, of),
                           is_separate ? &product : nullptr);
                }
                if (of.few.variant != nullptr) return run_qkv_few_rows(s, a, of.few);
                if (of.fused != nullptr) return run_fused(s, a, of.call, *of.fused);
                const launched_qkv_product launched = launch_product(s, a, of.call);
                run_qkv_heads(s, launched.problem, launched.product);
              });
}

launched_qkv_product run_qkv_product(const stream& s, const qkv_arguments& arguments) {
  const device_properties& device = s.properties();
  check_everywhere(s, arguments);
  return for_planned(s.device_identity(), device, arguments, false,
                     [&](const qkv_arguments& a, const planned& of, bool norm_first) {
                       if (of.call.empty()) return launched_qkv_product{};
                       if (norm_first) {
                         const projection_product product = product_of(a, of.call);
                         run_norm(s, arguments, workspace_of(s.device_identity(), device, a, of), &product);
                       }
                       return launch_product(s, a, of.call);
                     });
}

std::uint64_t workspace_of_qkv(const stream& s, const qkv_arguments& arguments) {
  return bytes_for_all(s, [&](const device_properties& device) {
    return for_planned(s.device_identity(), device, arguments, true,
                       [&](const qkv_arguments& a, const planned& of, bool norm_first) {
                         return (norm_first ? bytes_of_normed(arguments.x) : 0) +
                                workspace_of(s.device_identity(), device, a, of);
                       });
  });
}

bool warm_up_qkv_product(const runtime::device& gpu, const qkv_arguments& arguments) {
  return for_planned(gpu.identity(), gpu.properties(), arguments, true,
                     [&](const qkv_arguments& a, const planned& of, bool norm_first) {
                       if (of.call.empty()) return false;
                       if (norm_first) rms_norm_warmup(gpu, a.x.type);
                       product_of(a, of.call).warm_up(gpu);
                       return true;
                     });
}

}  // namespace detail

std::uint64_t qkv_project_workspace_bytes(const stream& s, const any_view& x, const qkv_weights& weights,
                                          const qkv_outputs& outputs, const qkv_project_options& options) {
  return detail::workspace_of_qkv(s, {"qkv_project_workspace_bytes", x, &weights, &outputs, &options});
}

kernel_choice qkv_project_choice(const stream& s, const any_view& x, const qkv_weights& weights,
                                 const qkv_outputs& outputs, const qkv_project_options& options) {
  const device_properties& device = s.properties();
  const detail::qkv_arguments arguments{"qkv_project_choice", x, &weights, &outputs, &options};
  return for_planned(
      s.device_identity(), device, arguments, true,
      [](const detail::qkv_arguments&, const planned& of, bool) {
        if (of.call.empty()) return kernel_choice();
        const std::uint32_t splits = of.few.variant != nullptr ? of.few.call.product.splits : 1;
        return kernel_choice{of.image() != nullptr ? std::string_view(of.image()->name) : separate, splits,
                             splits > 1};
      });
}

void qkv_project_warmup(const runtime::device& gpu, const any_view& x, const qkv_weights& weights,
                        const qkv_outputs& outputs, const qkv_project_options& options) {
  const detail::qkv_arguments arguments{"qkv_project_warmup", x, &weights, &outputs, &options};
  for_planned(gpu.identity(), gpu.properties(), arguments, true,
              [&](const detail::qkv_arguments& a, const planned& of, bool norm_first) {
                if (of.call.empty()) return;
                if (norm_first) rms_norm_warmup(gpu, a.x.type);
                if (of.image() != nullptr) return gpu.warmup(*of.image());
                product_of(a, of.call).warm_up(gpu);
                gpu.warmup(qkv_heads_image(gpu.properties()));
              });
}

std::vector<const ptx::kernel_image*> qkv_project_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_qkv_heads_kernels(list);
  list_qkv_mma_f16_kernels(list);
  list_qkv_mma_bf16_kernels(list);
  list_qkv_sm90_f16_kernels(list);
  list_qkv_sm90_bf16_kernels(list);
  list_qkv_one_row_kernels(list);
  list_qkv_w4_kernels(list);
  list_qkv_w16_kernels(list);
  return list;
}

}  // namespace kaio::ops
