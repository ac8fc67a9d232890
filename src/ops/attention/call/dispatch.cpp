// From a call to a kernel: the choice of a variant, and the launch.

#include <kaio/ops/attention.hpp>
#include <kaio/runtime/device.hpp>

#include "ops/attention/choice/table.hpp"

namespace kaio::ops {

namespace {

const attention_variant& choose(std::string_view operation, const attention_call& call,
                                const device_properties& device) {
  const auto variants = all_attention_variants();
  return variants[detail::choose_attention(operation, call, variants, device)];
}

}  // namespace

namespace detail {

void run_attention(const stream& s, const attention_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const attention_call call = resolve_attention(s.device_identity(), arguments);
  if (!call.empty()) choose(arguments.operation, call, device).run(s, call);
}

}  // namespace detail

void attention_warmup(const runtime::device& gpu, const attention_view& q, const attention_view& k,
                      const attention_view& v, const attention_view& out, const attention_options& options) {
  const device_properties& device = gpu.properties();
  const attention_call call =
      detail::resolve_attention(gpu.identity(), {"attention_warmup", q, k, v, out, &options});
  if (!call.empty()) gpu.warmup(*choose("attention_warmup", call, device).image);
}

std::string_view attention_choice(const stream& s, const attention_view& q, const attention_view& k,
                                  const attention_view& v, const attention_view& out,
                                  const attention_options& options) {
  const device_properties& device = s.properties();
  const attention_call call =
      detail::resolve_attention(s.device_identity(), {"attention_choice", q, k, v, out, &options});
  return call.empty() ? std::string_view() : choose("attention_choice", call, device).image->name;
}

}  // namespace kaio::ops
