// From a call of attention_backward to its kernels: the choice of a variant, and the launches.

#include <kaio/ops/attention_backward.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>

#include "ops/attention/backward/choice/table.hpp"
#include "ops/choice/strict.hpp"

namespace kaio::ops {

namespace {

const attention_backward_variant& choose(std::string_view operation, const attention_backward_call& call,
                                         const device_properties& device) {
  const auto variants = all_attention_backward_variants();
  return variants[detail::choose_attention_backward(operation, call, variants, device)];
}

// The kernels for a call on a device. Throws if its workspace is too small for them.
const attention_backward_variant& checked_choice(const void* identity, const device_properties& device,
                                                 const detail::attention_backward_arguments& arguments,
                                                 const attention_backward_call& call) {
  const attention_backward_variant& chosen = choose(arguments.operation, call, device);
  const std::uint64_t own = chosen.workspace_bytes == nullptr ? 0 : chosen.workspace_bytes(call);
  detail::check_backward_workspace(identity, arguments, own);
  return chosen;
}

void run(const stream& s, const detail::attention_backward_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const detail::operation_scope traced(arguments.operation);
  const void* const identity = s.device_identity();
  attention_backward_call call = detail::resolve_attention_backward(identity, arguments);
  const attention_backward_variant& chosen = checked_choice(identity, device, arguments, call);
  check_strictly(s,
                 [&](const device_properties& other) { checked_choice(identity, other, arguments, call); });
  if (chosen.place_workspace != nullptr) chosen.place_workspace(call);
  call.gradients.dbias.direct = chosen.writes_dbias && detail::has_full_bias_gradient(call) ? 1 : 0;
  detail::prepare_attention_backward(s, call);
  chosen.run(s, call);
}

kernel_choice choice(const stream& s, const detail::attention_backward_arguments& arguments) {
  const device_properties& device = s.properties();
  const attention_backward_call call = detail::resolve_attention_backward(s.device_identity(), arguments);
  return {choose(arguments.operation, call, device).name()};
}

// The largest workspace of any kernel of the device for these head sizes. Which kernel runs may depend on the
// options.
std::uint64_t workspace_bytes(const stream& s, std::string_view operation, const attention_view& q,
                              const attention_view& k, const attention_view& v,
                              const attention_sequences* sequences) {
  const std::uint64_t numbers = detail::attention_backward_numbers(operation, q);
  const attention_backward_call call = detail::size_attention_backward(operation, q, k, v, sequences);
  return numbers + bytes_for_all(s, [&](const device_properties& device) {
           std::uint64_t most = 0;
           for (const attention_backward_variant& variant : all_attention_backward_variants())
             if (variant.workspace_bytes != nullptr && detail::is_made_for(variant, device.target) &&
                 variant.type == call.forward.type && call.forward.problem.qk_size <= variant.depth_qk &&
                 call.forward.problem.v_size <= variant.depth_v)
               most = std::max(most, variant.workspace_bytes(call));
           return most;
         });
}

}  // namespace

namespace detail {

void warm_up_attention_backward(const runtime::device& gpu, const attention_backward_arguments& arguments,
                                std::span<const attention_backward_variant> variants) {
  const attention_backward_call call = resolve_attention_backward(gpu.identity(), arguments);
  const std::size_t chosen = choose_attention_backward(arguments.operation, call, variants, gpu.properties());
  for (const ptx::kernel_image* const image : attention_backward_common_kernels())
    if (device_refusal(image->needs, gpu.properties()).empty()) gpu.warmup(*image);
  for (const ptx::kernel_image* const image : variants[chosen].images)
    if (image != nullptr) gpu.warmup(*image);
}

}  // namespace detail

std::uint64_t attention_backward_workspace_bytes(const stream& s, const attention_view& q,
                                                 const attention_view& k, const attention_view& v) {
  return workspace_bytes(s, "attention_backward_workspace_bytes", q, k, v, nullptr);
}

std::uint64_t attention_backward_varlen_workspace_bytes(const stream& s, const attention_view& q,
                                                        const attention_view& k, const attention_view& v,
                                                        const attention_sequences& sequences) {
  return workspace_bytes(s, "attention_backward_varlen_workspace_bytes", q, k, v, &sequences);
}

void attention_backward(const stream& s, const attention_view& dout, const attention_view& q,
                        const attention_view& k, const attention_view& v, const attention_view& out,
                        const attention_row_input& lse, const attention_gradient& dq,
                        const attention_gradient& dk, const attention_gradient& dv,
                        const attention_backward_options& options) {
  run(s, {"attention_backward", dout, q, k, v, out, lse.view, dq.view, dk.view, dv.view, &options});
}

void attention_backward_varlen(const stream& s, const attention_view& dout, const attention_view& q,
                               const attention_view& k, const attention_view& v, const attention_view& out,
                               const attention_row_input& lse, const attention_gradient& dq,
                               const attention_gradient& dk, const attention_gradient& dv,
                               const attention_sequences& sequences,
                               const attention_backward_options& options) {
  run(s, {"attention_backward_varlen", dout, q, k, v, out, lse.view, dq.view, dk.view, dv.view, &options,
          false, false, &sequences});
}

void attention_backward_warmup(const runtime::device& gpu, const attention_view& dout,
                               const attention_view& q, const attention_view& k, const attention_view& v,
                               const attention_view& out, const attention_row_input& lse,
                               const attention_gradient& dq, const attention_gradient& dk,
                               const attention_gradient& dv, const attention_backward_options& options) {
  detail::warm_up_attention_backward(
      gpu, {"attention_backward_warmup", dout, q, k, v, out, lse.view, dq.view, dk.view, dv.view, &options},
      all_attention_backward_variants());
}

void attention_backward_varlen_warmup(const runtime::device& gpu, const attention_view& dout,
                                      const attention_view& q, const attention_view& k,
                                      const attention_view& v, const attention_view& out,
                                      const attention_row_input& lse, const attention_gradient& dq,
                                      const attention_gradient& dk, const attention_gradient& dv,
                                      const attention_sequences& sequences,
                                      const attention_backward_options& options) {
  detail::warm_up_attention_backward(gpu,
                                     {"attention_backward_varlen_warmup", dout, q, k, v, out, lse.view,
                                      dq.view, dk.view, dv.view, &options, false, false, &sequences},
                                     all_attention_backward_variants());
}

kernel_choice attention_backward_choice(const stream& s, const attention_view& dout, const attention_view& q,
                                        const attention_view& k, const attention_view& v,
                                        const attention_view& out, const attention_row_input& lse,
                                        const attention_gradient& dq, const attention_gradient& dk,
                                        const attention_gradient& dv,
                                        const attention_backward_options& options) {
  return choice(
      s, {"attention_backward_choice", dout, q, k, v, out, lse.view, dq.view, dk.view, dv.view, &options});
}

kernel_choice attention_backward_varlen_choice(const stream& s, const attention_view& dout,
                                               const attention_view& q, const attention_view& k,
                                               const attention_view& v, const attention_view& out,
                                               const attention_row_input& lse, const attention_gradient& dq,
                                               const attention_gradient& dk, const attention_gradient& dv,
                                               const attention_sequences& sequences,
                                               const attention_backward_options& options) {
  return choice(s, {"attention_backward_varlen_choice", dout, q, k, v, out, lse.view, dq.view, dk.view,
                    dv.view, &options, false, false, &sequences});
}

}  // namespace kaio::ops
