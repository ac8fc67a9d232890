// Chooses a kernel for a call of matmul_int8, and launches it.

#include <kaio/ops/matmul_int8.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "ops/choice/recent_choices.hpp"
#include "ops/matmul/call/product_trial.hpp"
#include "ops/matmul/choice/signature.hpp"
#include "ops/matmul_8bit/common/costs.hpp"
#include "ops/matmul_8bit/int8/call.hpp"

namespace kaio::ops {

namespace {

const variant_list& int8_variants() {
  static const variant_list& list = *[] {
    auto* all = new variant_list;  // never destroyed, like the table of matmul
    add_int8_sm90(*all);
    add_int8_mma_sync(*all);
    add_int8_simt(*all);
    for (matmul_variant& v : *all) take_costs_of_bytes(v, false);
    return all;
  }();
  return list;
}

// Whether a kernel is for the types and layouts of a call.
bool fits(const matmul_variant& v, const matmul_call& call) {
  return v.output == call.output && v.a == call.a.lines && v.b == call.b.lines;
}

const matmul_variant& named(std::string_view operation, const int8_call& call, std::string_view name,
                            const device_properties& device) {
  for (const matmul_variant* const one : variants_for(call)) {
    const matmul_variant& v = *one;
    if (v.name() != name) continue;
    if (const std::string why = refusal(v, call, device); !why.empty())
      throw invalid_argument("kaio: " + std::string(operation) + ": variant " + std::string(name) +
                             " cannot run this product: " + why +
                             "; leave the variant out, or take another of matmul_int8_variants");
    return v;
  }
  throw invalid_argument("kaio: " + std::string(operation) + ": there is no variant " + std::string(name) +
                         " for these types and layouts; matmul_int8_variants lists them");
}

// If K is 0, the operands are not read and may have no memory. The product of zeros runs on the kernel that
// reads lines at any address.
void leave_operands_out(int8_call& call, const void* device) {
  if (call.k != 0) return;
  call.a = call.b = {.device = device};
  call.a.pitch = call.b.pitch = 1;
}

}  // namespace

std::vector<const matmul_variant*> variants_for(const int8_call& call) {
  std::vector<const matmul_variant*> result;
  for (const matmul_variant& v : int8_variants())
    if (fits(v, call)) result.push_back(&v);
  return result;
}

std::string tuning_key(const int8_call& call) { return "matmul_int8," + call_signature::of(call).text(); }

const matmul_variant& choose_int8(std::string_view operation, const int8_call& call,
                                  const device_properties& device, std::string_view forced) {
  if (!forced.empty()) return named(operation, call, forced, device);
  thread_local recent_choices<call_signature, const matmul_variant*> recent;
  return *recent.find(call_signature::of(call), device, [&] {
    if (const matmul_variant* v = tuned_among(variants_for(call), call, device, tuning_key(call))) return v;
    return &int8_variants()[detail::choose_among(operation, call, int8_variants(), device)];
  });
}

namespace detail {

void run_matmul_int8(const stream& s, const matmul_int8_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  int8_call call = resolve_matmul_int8(s.device_identity(), arguments);
  if (call.empty()) return;
  leave_operands_out(call, s.device_identity());
  const matmul_variant& v = choose_int8(arguments.operation, call, device, arguments.options->variant);
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
  std::vector<matmul_variant_info> result;
  if (call.empty()) return result;
  leave_operands_out(call, s.device_identity());
  for (const matmul_variant* const v : variants_for(call)) {
    matmul_variant_info one{v->name(), refusal(*v, call, device), 0, 0};
    if (one.refusal.empty()) one.seconds = cost(*v, call, device);
    result.push_back(std::move(one));
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& x, const auto& y) {
    if (x.refusal.empty() != y.refusal.empty()) return x.refusal.empty();
    return x.seconds < y.seconds;
  });
  return result;
}

std::vector<const ptx::kernel_image*> matmul_int8_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const matmul_variant& v : int8_variants()) list.push_back(v.image);
  list_int8_column_sums_kernels(list);
  list_int8_quantise_kernels(list);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace kaio::ops
