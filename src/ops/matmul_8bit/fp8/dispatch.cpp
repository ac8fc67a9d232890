// Chooses a kernel for a call of matmul_fp8, and launches it.

#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/runtime/device.hpp>

#include <array>
#include <string>
#include <utility>

#include "ops/choice/recent_choices.hpp"
#include "ops/choice/strict.hpp"
#include "ops/matmul/call/product_trial.hpp"
#include "ops/matmul/choice/signature.hpp"
#include "ops/matmul_8bit/common/costs.hpp"
#include "ops/matmul_8bit/common/variants.hpp"
#include "ops/matmul_8bit/fp8/call.hpp"

namespace kaio::ops {

namespace {

// Kernels for operands of two types, of one type, and of one type with group scales.
enum class fp8_kind : std::uint8_t { mixed, plain, groups };
constexpr std::size_t fp8_kinds = 3;

fp8_kind kind_of(const fp8_call& call) {
  if (call.operand != call.operand_b) return fp8_kind::mixed;
  return call.has_groups ? fp8_kind::groups : fp8_kind::plain;
}

using variant_lists = std::array<variant_list, fp8_kinds>;
const variant_lists& fp8_lists() {
  static const variant_lists& lists = *[] {
    auto* all = new variant_lists;  // never destroyed, like the table of matmul
    auto& [mixed, plain, groups] = *all;
    for (const auto add : fp8_families) add(plain);
    for (const auto add : fp8_groups_families) add(groups);
    for (variant_list& list : *all) {
      for (const auto add : fp8_any_families) add(list);
      for (matmul_variant& v : list) take_costs_of_bytes(v, &list == &groups);
    }
    return all;
  }();
  return lists;
}
const variant_list& variants_of(const fp8_call& call) {
  return fp8_lists()[static_cast<std::size_t>(kind_of(call))];
}

// A product of zeros runs without groups.
void leave_out(fp8_call& call, const void* device) {
  leave_operands_out(call, device);
  if (call.k == 0) call.epilogue.groups_a = call.epilogue.blocks_b = {};
}

}  // namespace

std::vector<const matmul_variant*> variants_for(const fp8_call& call) {
  return variants_among(variants_of(call), call);
}

std::string tuning_key(const fp8_call& call) {
  const std::array<std::uint64_t, 2> kind{static_cast<std::uint64_t>(kind_of(call)),
                                          static_cast<std::uint64_t>(call.operand_b)};
  return "matmul_fp8," + text_of_words(kind) + "," + call_signature::of(call).text();
}

const matmul_variant& choose_fp8(std::string_view operation, const fp8_call& call,
                                 const device_properties& device, std::string_view forced) {
  if (!forced.empty())
    return named_variant(operation, "matmul_fp8", "these types, layouts and scales", variants_for(call), call,
                         device, forced);
  thread_local std::array<recent_choices<call_signature, const matmul_variant*>, fp8_kinds> recent;
  return *recent[static_cast<std::size_t>(kind_of(call))].find(call_signature::of(call), device, [&] {
    if (const matmul_variant* v = tuned_among(variants_for(call), call, device, tuning_key(call))) return v;
    const variant_list& list = variants_of(call);
    return &list[detail::choose_among(operation, call, list, device)];
  });
}

namespace detail {

void run_matmul_fp8(const stream& s, const matmul_fp8_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(arguments.operation);
  fp8_call call = resolve_matmul_fp8(s.device_identity(), arguments);
  if (call.empty()) return;
  leave_out(call, s.device_identity());
  const std::string_view named = arguments.options->variant;
  if (named.empty())
    check_strictly(s,
                   [&](const device_properties& other) { choose_fp8(arguments.operation, call, other, {}); });
  const matmul_variant& v = choose_fp8(arguments.operation, call, device, named);
  call.epilogue.general.by_four = call.epilogue.general.reads_by_four() ? 1 : 0;
  v.run(s, call, v);
}

}  // namespace detail

void matmul_fp8_warmup(const runtime::device& gpu, const matmul_view& a, const matmul_view& b,
                       const matmul_view& c, const matmul_fp8_options& options) {
  fp8_call call = resolve_matmul_fp8(gpu.identity(), {"matmul_fp8_warmup", a, b, c, &options});
  if (call.empty()) return;
  leave_out(call, gpu.identity());
  gpu.warmup(*choose_fp8("matmul_fp8_warmup", call, gpu.properties(), options.variant).image);
}

kernel_choice matmul_fp8_choice(const stream& s, const matmul_view& a, const matmul_view& b,
                                const matmul_view& c, const matmul_fp8_options& options) {
  fp8_call call = resolve_matmul_fp8(s.device_identity(), {"matmul_fp8_choice", a, b, c, &options});
  if (call.empty()) return {};
  leave_out(call, s.device_identity());
  return choose_fp8("matmul_fp8_choice", call, s.properties(), options.variant).choice();
}

std::vector<matmul_variant_info> matmul_fp8_variants(const stream& s, const matmul_view& a,
                                                     const matmul_view& b, const matmul_view& c,
                                                     const matmul_fp8_options& options) {
  const device_properties& device = s.properties();
  fp8_call call = resolve_matmul_fp8(s.device_identity(), {"matmul_fp8_variants", a, b, c, &options});
  if (call.empty()) return {};
  leave_out(call, s.device_identity());
  return ranked_variants(variants_for(call), call, device);
}

std::vector<const ptx::kernel_image*> matmul_fp8_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const variant_list& variants : fp8_lists())
    for (const matmul_variant& v : variants) list.push_back(v.image);
  list_fp8_quantise_kernels(list);
  return distinct_kernels(std::move(list));
}

}  // namespace kaio::ops
