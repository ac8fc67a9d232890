// From a call of attention_decode to its kernels: the choice of a variant, the plan, and the launches.

#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/tensor/validation.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <limits>
#include <string>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

namespace {

// A call with its kernel, and how it is divided.
struct planned_call {
  attention_decode_call call;
  const attention_decode_variant* variant = nullptr;
  attention_decode_room room;
  std::uint64_t blocks = 0;
};

planned_call plan(const void* device, const device_properties& properties,
                  const detail::attention_decode_arguments& arguments) {
  planned_call result;
  result.call = detail::resolve_attention_decode(device, arguments);
  attention_decode_call& call = result.call;
  if (call.empty()) return result;
  result.variant = &choose(arguments.operation, call, properties, arguments.options->variant);
  const attention_decode_plan plan = plan_attention_decode(*result.variant, call, properties);
  result.room = room_of(arguments.operation, call, plan);
  call.split.row_tiles = static_cast<u32>(call.row_tiles(result.variant->rows));
  call.split.parts = plan.parts;
  call.split.chunk = plan.chunk;
  call.split.least = plan.least;
  call.split.pitch = result.room.pitch;
  const double blocks =
      static_cast<double>(call.split.row_tiles) * call.split.key_heads * plan.parts * call.problem.batches;
  if (blocks > std::numeric_limits<std::int32_t>::max())
    throw invalid_argument("kaio: " + std::string(arguments.operation) +
                           ": more than 2^31 blocks; give a smaller max_length, or divide the batch");
  result.blocks =
      std::uint64_t{call.split.row_tiles} * call.split.key_heads * plan.parts * call.problem.batches;
  return result;
}

}  // namespace

namespace detail {

void run_attention_decode(const stream& s, const attention_decode_arguments& arguments) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  planned_call planned = plan(s.device_identity(), device, arguments);
  if (planned.variant == nullptr) return;
  const attention_workspace& workspace = arguments.options->workspace;
  validation(arguments.operation, s.device_identity())
      .workspace("workspace", workspace.facts(), planned.room.bytes(), 16);
  attention_split& split = planned.call.split;
  split.sums = workspace.address;
  split.totals = workspace.address + planned.room.sums;
  planned.variant->run(s, planned.call, planned.blocks);
  if (split.parts > 1) run_attention_decode_combine(s, planned.call);
}

}  // namespace detail

std::uint64_t attention_decode_workspace_bytes(const stream& s, const attention_view& q,
                                               const attention_cache_view& cache,
                                               const attention_decode_options& options) {
  const device_properties& device = s.properties();
  attention_decode_options alone = options;
  alone.workspace = {};
  return plan(s.device_identity(), device, {"attention_decode_workspace_bytes", q, cache, {}, &alone})
      .room.bytes();
}

void attention_decode_warmup(const runtime::device& gpu, const attention_view& q,
                             const attention_cache_view& cache, const attention_view& out,
                             const attention_decode_options& options) {
  const planned_call planned =
      plan(gpu.identity(), gpu.properties(), {"attention_decode_warmup", q, cache, out, &options});
  if (planned.variant == nullptr) return;
  gpu.warmup(*planned.variant->image);
  if (planned.call.split.parts > 1) gpu.warmup(attention_decode_combine_image(gpu.properties()));
}

attention_decode_choice_info attention_decode_choice(const stream& s, const attention_view& q,
                                                     const attention_cache_view& cache,
                                                     const attention_view& out,
                                                     const attention_decode_options& options) {
  const device_properties& device = s.properties();
  const planned_call planned =
      plan(s.device_identity(), device, {"attention_decode_choice", q, cache, out, &options});
  if (planned.variant == nullptr) return {};
  return {planned.variant->image->name, planned.call.split.parts};
}

}  // namespace kaio::ops
