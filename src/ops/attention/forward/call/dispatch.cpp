// From a call to a kernel: the choice of a variant, and the launch.

#include <kaio/ops/attention.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/attention/common/operands.hpp"
#include "ops/attention/forward/choice/signature.hpp"
#include "ops/attention/forward/choice/table.hpp"
#include "ops/choice/recent_choices.hpp"
#include "ops/choice/strict.hpp"

namespace kaio::ops {

namespace {

std::string shape_text(const attention_call& call) {
  return "head sizes " + std::to_string(call.problem.qk_size) + " and " + std::to_string(call.problem.v_size);
}

const attention_variant* find_named(std::string_view name) {
  for (const attention_variant& v : all_attention_variants())
    if (v.name() == name) return &v;
  return nullptr;
}

// Whether a variant has the call's element type, and reads lists exactly if the call has them.
bool is_for(const attention_variant& v, const attention_call& call) {
  return v.type == call.type && v.in_blocks == call.in_blocks;
}

const attention_variant& tuned_or_best(std::string_view operation, const attention_call& call,
                                       const attention_signature& signature,
                                       const device_properties& device) {
  if (const std::string name = find_tuned(device, signature.text()); !name.empty())
    if (const attention_variant* v = find_named(name); v != nullptr && accepts(*v, call, device)) return *v;
  const auto variants = all_attention_variants();
  return variants[detail::choose_attention(operation, call, variants, device)];
}

}  // namespace

const attention_variant& choose(std::string_view operation, const attention_call& call,
                                const device_properties& device, std::string_view forced) {
  if (!forced.empty()) {
    const attention_variant* const v = find_named(forced);
    if (v == nullptr)
      throw invalid_argument("kaio: " + std::string(operation) + ": there is no variant " +
                             std::string(forced) + "; attention_variants lists them");
    if (const std::string_view why = refusal(*v, call, device); !why.empty())
      throw invalid_argument("kaio: " + std::string(operation) + ": variant " + std::string(forced) +
                             " cannot run a call with " + shape_text(call) + ": " + std::string(why) +
                             "; leave the variant out, or take another of attention_variants");
    return *v;
  }
  thread_local recent_choices<attention_signature, const attention_variant*> recent;
  const attention_signature signature = attention_signature::of(call);
  return *recent.find(signature, device, [&] { return &tuned_or_best(operation, call, signature, device); });
}

namespace detail {

std::size_t choose_attention(std::string_view operation, const attention_call& call,
                             std::span<const attention_variant> variants, const device_properties& device) {
  std::string_view last = "no kernel supports this element type";
  std::size_t found = variants.size();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (const std::string_view why = refusal(variants[i], call, device); !why.empty()) {
      if (is_for(variants[i], call)) last = why;
      continue;
    }
    const double seconds = cost(variants[i], call, device);
    if (seconds < least) {
      least = seconds;
      found = i;
    }
  }
  if (found == variants.size())
    refuse_without_kernel(operation, call.problem.qk_size, call.problem.v_size, call.type, call.output,
                          device, last);
  return found;
}

void run_attention(const stream& s, const attention_arguments& arguments) {
  const device_properties& device = s.properties();  // refuses a null stream before anything else
  const operation_scope traced(arguments.operation);
  const attention_call call = resolve_attention(s.device_identity(), arguments);
  if (call.empty()) return;
  const std::string_view named = arguments.options->variant;
  if (named.empty())
    check_strictly(s, [&](const device_properties& other) { choose(arguments.operation, call, other, {}); });
  choose(arguments.operation, call, device, named).run(s, call);
}

void warm_up_attention(const runtime::device& gpu, const attention_arguments& arguments,
                       std::span<const attention_variant> variants) {
  const attention_call call = resolve_attention(gpu.identity(), arguments);
  if (call.empty()) return;
  gpu.warmup(*variants[choose_attention(arguments.operation, call, variants, gpu.properties())].image);
}

}  // namespace detail

namespace {

void warm_up(const runtime::device& gpu, const detail::attention_arguments& arguments) {
  const device_properties& device = gpu.properties();
  const attention_call call = detail::resolve_attention(gpu.identity(), arguments);
  if (!call.empty()) gpu.warmup(*choose(arguments.operation, call, device, arguments.options->variant).image);
}

kernel_choice choice(const stream& s, const detail::attention_arguments& arguments) {
  const device_properties& device = s.properties();
  const attention_call call = detail::resolve_attention(s.device_identity(), arguments);
  if (call.empty()) return {};
  return {choose(arguments.operation, call, device, arguments.options->variant).name()};
}

std::vector<attention_variant_info> list_variants(const stream& s,
                                                  const detail::attention_arguments& arguments) {
  const device_properties& device = s.properties();
  const attention_call call = detail::resolve_attention(s.device_identity(), arguments);
  std::vector<attention_variant_info> result;
  if (call.empty()) return result;
  for (const attention_variant& variant : all_attention_variants()) {
    if (!is_for(variant, call)) continue;
    const std::string_view why = refusal(variant, call, device);
    result.push_back({variant.name(), why, why.empty() ? cost(variant, call, device) : 0});
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& x, const auto& y) {
    if (x.refusal.empty() != y.refusal.empty()) return x.refusal.empty();
    return x.seconds < y.seconds;
  });
  return result;
}

}  // namespace

void attention_warmup(const runtime::device& gpu, const attention_view& q, const attention_view& k,
                      const attention_view& v, const attention_view& out, const attention_options& options) {
  warm_up(gpu, {"attention_warmup", q, k, v, out, &options});
}
void attention_varlen_warmup(const runtime::device& gpu, const attention_view& q, const attention_view& k,
                             const attention_view& v, const attention_view& out,
                             const attention_sequences& sequences, const attention_options& options) {
  warm_up(gpu, {"attention_varlen_warmup", q, k, v, out, &options, false, false, &sequences});
}

kernel_choice attention_choice(const stream& s, const attention_view& q, const attention_view& k,
                               const attention_view& v, const attention_view& out,
                               const attention_options& options) {
  return choice(s, {"attention_choice", q, k, v, out, &options});
}
kernel_choice attention_varlen_choice(const stream& s, const attention_view& q, const attention_view& k,
                                      const attention_view& v, const attention_view& out,
                                      const attention_sequences& sequences,
                                      const attention_options& options) {
  return choice(s, {"attention_varlen_choice", q, k, v, out, &options, false, false, &sequences});
}

std::vector<attention_variant_info> attention_variants(const stream& s, const attention_view& q,
                                                       const attention_view& k, const attention_view& v,
                                                       const attention_view& out,
                                                       const attention_options& options) {
  return list_variants(s, {"attention_variants", q, k, v, out, &options});
}
std::vector<attention_variant_info> attention_varlen_variants(
    const stream& s, const attention_view& q, const attention_view& k, const attention_view& v,
    const attention_view& out, const attention_sequences& sequences, const attention_options& options) {
  return list_variants(s, {"attention_varlen_variants", q, k, v, out, &options, false, false, &sequences});
}

}  // namespace kaio::ops
