// An attention_decode up to its kernel: the plan, the workspace, and new keys and values.

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/ops/tensor/validation.hpp>

#include <string>

#include "ops/attention/call/operands.hpp"
#include "ops/attention/decode/choice/plan.hpp"

namespace kaio::ops::detail {

namespace {

any_view queries_of(const attention_view& q) {
  any_view view;
  view.kind = q.type == attention_type::f32   ? element_kind::f32
              : q.type == attention_type::f16 ? element_kind::f16
                                              : element_kind::bf16;
  view.rank = q.rank;
  view.element_bytes = q.element_bytes;
  view.address = q.address;
  view.bytes = q.bytes;
  view.device = q.device;
  for (std::size_t d = 0; d < q.rank; ++d) {
    view.extents[d] = q.extents[d];
    view.strides[d] = q.strides[d];
  }
  return view;
}

// The same rows without gaps, elsewhere.
attention_view dense_at(const attention_view& q, std::uint64_t address, const void* device) {
  attention_view view = q;
  view.address = address;
  view.device = device;
  std::int64_t stride = 1;
  for (std::size_t d = q.rank; d-- > 0;) {
    view.strides[d] = stride;
    stride *= q.extents[d];
  }
  view.bytes = static_cast<std::uint64_t>(stride) * q.element_bytes;
  return view;
}

append_queries queries_into(const attention_view& q, const attention_view& rotated) {
  append_queries queries;
  queries.in = queries_of(q);
  queries.out = queries_of(rotated);
  return queries;
}

// The cache as append_kv writes it: of rows whose first elements are the values, K is the rest.
any_cache written_cache(const attention_decode_arguments& arguments, bool values_in_keys) {
  any_cache cache = arguments.cache.cache;
  const std::int64_t of_values = cache.v.extents[3];
  if (!values_in_keys || of_values == cache.k.extents[3]) return cache;
  const std::uint64_t bytes = static_cast<std::uint64_t>(of_values) * cache.k.element_bytes;
  cache.k.extents[3] -= of_values;
  cache.k.address += bytes;
  cache.k.bytes -= bytes;
  return cache;
}

void append(const stream& s, const attention_decode_arguments& arguments, const attention_view& rotated,
            bool values_in_keys) {
  const attention_decode_options& options = *arguments.options;
  const attention_append& given = options.append;
  append_kv_options to;
  to.rotary = given.rotary;
  const bool of_own_counts = !given.cu_k.is_null();
  if (rotated.exists() && !of_own_counts) to.rotary.q = queries_into(arguments.q, rotated);
  to.k_scale_out = given.k_scale_out;
  to.v_scale_out = given.v_scale_out;
  to.k_scale.view = options.k_scale.numbers;
  to.v_scale.view = options.v_scale.numbers;
  to.constant_numbers = options.constant_numbers;
  const tensor_view<const i32, 1> none{};
  const auto& cu_q = arguments.sequences == nullptr ? none : arguments.sequences->cu_q.numbers;
  to.cu_seqlens = of_own_counts ? given.cu_k : cu_q;
  const std::string caller = std::string(arguments.operation) + ": append";
  const any_cache cache = written_cache(arguments, values_in_keys);
  run_append_kv(s, given.k.view, given.v.view, cache, to, caller);
  if (!rotated.exists() || !of_own_counts) return;

  // The queries alone, as they follow from their own numbers: next to no heads of keys.
  append_kv_options turn;
  turn.rotary = to.rotary;
  turn.rotary.q = queries_into(arguments.q, rotated);
  turn.cu_seqlens = cu_q;
  turn.constant_numbers = to.constant_numbers;
  any_view no_rows = turn.rotary.q.in;
  no_rows.extents[no_rows.rank - 2] = 0;
  any_cache no_heads = cache;
  no_heads.k.extents[2] = no_heads.v.extents[2] = 0;
  no_heads.v.extents[3] = no_rows.extents[no_rows.rank - 1];
  run_append_kv(s, no_rows, no_rows, no_heads, turn, caller);
}

}  // namespace

planned_attention_decode prepare_attention_decode(const stream& s,
                                                  const attention_decode_arguments& arguments,
                                                  std::span<const attention_decode_variant> variants) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  planned_attention_decode result = plan_attention_decode(s.device_identity(), device, arguments, variants);
  const attention_workspace& workspace = arguments.options->workspace;
  // What tuning found is for calls with its workspace.
  if (workspace.address == 0 && result.workspace_bytes() != 0 && arguments.options->variant.empty())
    result = plan_without_tuning(s.device_identity(), device, arguments, variants);
  attention_view rotated;
  if (result.blocks != 0) {
    validation(arguments.operation, s.device_identity())
        .workspace("workspace", workspace.facts(), result.workspace_bytes(), 16);
    attention_split& split = result.call.split;
    split.sums = workspace.address;
    split.totals = workspace.address + result.sums;
    if (result.queries != 0) {
      rotated = dense_at(arguments.q, workspace.address + result.sums + result.totals, workspace.device);
      result.call.problem.q = strides_of(arguments.operation, "q", as_one_batch(rotated));
    }
  }
  if (arguments.options->append.exists()) {
    append(s, arguments, rotated, result.call.values_in_keys);
    // append_kv lets the next kernel begin when all before it has ended; without tokens it is not launched.
    if (!arguments.options->append.k.view.empty())
      result.call.split.unsettled = static_cast<u32>(decode_unsettled::new_keys);
  }
  return result;
}

}  // namespace kaio::ops::detail
