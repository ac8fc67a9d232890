// Chooses a kernel for a call of matmul_int8, and launches it.

#include <kaio/ops/matmul_int8.hpp>
#include <kaio/runtime/device.hpp>

#include <string>
#include <utility>

#include "ops/choice/recent_choices.hpp"
#include "ops/choice/strict.hpp"
#include "ops/matmul/call/product_trial.hpp"
#include "ops/matmul/choice/signature.hpp"
#include "ops/matmul_8bit/common/costs.hpp"
#include "ops/matmul_8bit/common/variants.hpp"
#include "ops/matmul_8bit/int8/call.hpp"

namespace kaio::ops {

namespace {

const variant_list& int8_variants() {
  static const variant_list& list = *[] {
    auto* all = new variant_list;  // never destroyed, like the table of matmul
    for (const auto add : int8_families) add(*all);
    for (matmul_variant& v : *all) take_costs_of_bytes(v, false);
    return all;
  }();
  return list;
}

}  // namespace

std::vector<const matmul_variant*> variants_for(const int8_call& call) {
  return variants_among(int8_variants(), call);
}

std::string tuning_key(const int8_call& call) { return "matmul_int8," + call_signature::of(call).text(); }

const matmul_variant& choose_int8(std::string_view operation, const int8_call& call,
                                  const device_properties& device, std::string_view forced) {
  if (!forced.empty())
    return named_variant(operation, "matmul_int8", "these types and layouts", variants_for(call), call,
                         device, forced);
  thread_local recent_choices<call_signature, const matmul_variant*> recent;
  return *recent.find(call_signature::of(call), device, [&] {
    if (const matmul_variant* v = tuned_among(variants_for(call), call, device, tuning_key(call))) return v;
    return &int8_variants()[detail::choose_among(operation, call, int8_variants(), device)];
  });
}

namespace detail {

void run_matmul_int8(const stream& s, const matmul_int8_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(arguments.operation);
  int8_call call = resolve_matmul_int8(s.device_identity(), arguments);
  if (call.empty()) return;
  leave_operands_out(call, s.device_identity());
  const std::string_view named = arguments.options->variant;
  if (named.empty())
    check_strictly(
        s, [&](const device_properties& other) { choose_int8(arguments.operation, call, other, {}); });
  const matmul_variant& v = choose_int8(arguments.operation, call, device, named);
  call.epilogue.general.by_four = call.epilogue.general.reads_by_four() ? 1 : 0;
  v.run(s, call, v);
}

}  // namespace detail

void matmul_int8_warmup(const runtime::device& gpu, const matmul_view& a, const matmul_view& b,
                        const matmul_view& c, const matmul_int8_options& options) {
  int8_call call = resolve_matmul_int8(gpu.identity(), {"matmul_int8_warmup", a, b, c, &options});
  if (call.empty()) return;
  leave_operands_out(call, gpu.identity());
  gpu.warmup(*choose_int8("matmul_int8_warmup", call, gpu.properties(), options.variant).image);
}

kernel_choice matmul_int8_choice(const stream& s, const matmul_view& a, const matmul_view& b,
                                 const matmul_view& c, const matmul_int8_options& options) {
  int8_call call = resolve_matmul_int8(s.device_identity(), {"matmul_int8_choice", a, b, c, &options});
  if (call.empty()) return {};
  leave_operands_out(call, s.device_identity());
  return choose_int8("matmul_int8_choice", call, s.properties(), options.variant).choice();
}

std::vector<matmul_variant_info> matmul_int8_variants(const stream& s, const matmul_view& a,
                                                      const matmul_view& b, const matmul_view& c,
                                                      const matmul_int8_options& options) {
  const device_properties& device = s.properties();
  int8_call call = resolve_matmul_int8(s.device_identity(), {"matmul_int8_variants", a, b, c, &options});
  if (call.empty()) return {};
  leave_operands_out(call, s.device_identity());
  return ranked_variants(variants_for(call), call, device);
}

std::vector<const ptx::kernel_image*> matmul_int8_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const matmul_variant& v : int8_variants()) list.push_back(v.image);
  list_int8_column_sums_kernels(list);
  list_int8_quantise_kernels(list);
  return distinct_kernels(std::move(list));
}

}  // namespace kaio::ops
