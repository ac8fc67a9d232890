// From a call of attention_decode to its kernels.

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/rotary.hpp>
#include <kaio/runtime/device.hpp>

#include "ops/attention/decode/choice/plan.hpp"
#include "ops/attention/decode/choice/table.hpp"
#include "ops/choice/strict.hpp"

namespace kaio::ops {

namespace detail {

void run_attention_decode(const stream& s, const attention_decode_arguments& arguments) {
  const operation_scope traced(arguments.operation);
  const planned_attention_decode planned =
      prepare_attention_decode(s, arguments, attention_decode_variants());
  if (planned.blocks == 0) return;
  attention_decode_variants()[planned.chosen].run(s, planned.call, planned.blocks);
  combine_attention_decode(s, planned.call);
}

void warm_up_attention_decode(const runtime::device& gpu, const attention_decode_arguments& arguments,
                              std::span<const attention_decode_variant> variants) {
  const auto planned = plan_attention_decode(gpu.identity(), gpu.properties(), arguments, variants);
  if (arguments.options->append.exists()) append_kv_warmup(gpu);
  if (has_own_queries(*arguments.options)) rotary_warmup(gpu);
  if (planned.blocks == 0) return;
  gpu.warmup(*variants[planned.chosen].image);
  if (planned.call.split.splits.value > 1 && planned.call.split.in_cluster == 0)
    gpu.warmup(attention_decode_combine_image(gpu.properties(), planned.call));
}

}  // namespace detail

namespace {

kernel_choice choice(const stream& s, const detail::attention_decode_arguments& arguments) {
  const device_properties& device = s.properties();
  const auto planned =
      detail::plan_attention_decode(s.device_identity(), device, arguments, attention_decode_variants());
  if (planned.blocks == 0) return {};
  return {attention_decode_variants()[planned.chosen].name(), planned.call.split.splits.value,
          planned.call.split.in_cluster != 0};
}

std::uint64_t workspace_of(const stream& s, const detail::attention_decode_arguments& arguments) {
  return bytes_for_all(s, [&](const device_properties& device) {
    return detail::plan_attention_decode(s.device_identity(), device, arguments, attention_decode_variants())
        .workspace_bytes();
  });
}

}  // namespace

std::uint64_t attention_decode_workspace_bytes(const stream& s, const attention_view& q,
                                               const attention_cache_view& cache,
                                               const attention_decode_options& options) {
  attention_decode_options alone = options;
  alone.workspace = {};
  return workspace_of(s, {"attention_decode_workspace_bytes", q, cache, {}, &alone});
}

std::uint64_t attention_decode_varlen_workspace_bytes(const stream& s, const attention_view& q,
                                                      const attention_cache_view& cache,
                                                      const attention_sequences& sequences,
                                                      const attention_decode_options& options) {
  attention_decode_options alone = options;
  alone.workspace = {};
  return workspace_of(
      s, {"attention_decode_varlen_workspace_bytes", q, cache, {}, &alone, false, false, false, &sequences});
}

void attention_decode_warmup(const runtime::device& gpu, const attention_view& q,
                             const attention_cache_view& cache, const attention_view& out,
                             const attention_decode_options& options) {
  detail::warm_up_attention_decode(gpu, {"attention_decode_warmup", q, cache, out, &options},
                                   attention_decode_variants());
}

void attention_decode_varlen_warmup(const runtime::device& gpu, const attention_view& q,
                                    const attention_cache_view& cache, const attention_view& out,
                                    const attention_sequences& sequences,
                                    const attention_decode_options& options) {
  detail::warm_up_attention_decode(
      gpu, {"attention_decode_varlen_warmup", q, cache, out, &options, false, false, false, &sequences},
      attention_decode_variants());
}

kernel_choice attention_decode_choice(const stream& s, const attention_view& q,
                                      const attention_cache_view& cache, const attention_view& out,
                                      const attention_decode_options& options) {
  return choice(s, {"attention_decode_choice", q, cache, out, &options});
}

kernel_choice attention_decode_varlen_choice(const stream& s, const attention_view& q,
                                             const attention_cache_view& cache, const attention_view& out,
                                             const attention_sequences& sequences,
                                             const attention_decode_options& options) {
  return choice(s,
                {"attention_decode_varlen_choice", q, cache, out, &options, false, false, false, &sequences});
}

}  // namespace kaio::ops
