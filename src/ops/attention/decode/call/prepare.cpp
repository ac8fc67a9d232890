// The steps of an attention_decode before its kernel: the plan, the workspace, and new keys and values.

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/ops/rotary.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "ops/attention/common/operands.hpp"
#include "ops/attention/decode/choice/plan.hpp"
#include "ops/choice/strict.hpp"

namespace kaio::ops::detail {

namespace {

any_view queries_of(const attention_view& q) { return q; }

// The rows of q, without gaps, at `address`.
attention_view dense_at(const attention_view& q, std::uint64_t address, const void* device) {
  attention_view view = q;
  view.address = address;
  view.device = device;
  std::int64_t stride = 1;
  for (std::size_t d = q.rank; d-- > 0;) {
    view.strides[d] = stride;
    stride *= q.extents[d];
  }
  view.bytes = static_cast<std::uint64_t>(stride) * q.element_bytes();
  return view;
}

// The cache as append_kv writes it. If values are the first elements of its rows, K is the rest.
any_cache written_cache(const attention_decode_arguments& arguments, bool values_in_keys) {
  any_cache cache = arguments.cache.cache;
  const std::int64_t of_values = cache.v.extents[3];
  if (arguments.options->qv.view.exists() || !values_in_keys || of_values == cache.k.extents[3]) return cache;
  const std::uint64_t bytes = static_cast<std::uint64_t>(of_values) * cache.k.element_bytes();
  cache.k.extents[3] -= of_values;
  cache.k.address += bytes;
  cache.k.bytes -= bytes;
  return cache;
}

// Elements [first, first + size) of each head.
any_view part_of_heads(any_view view, std::int64_t first, std::int64_t size) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(first) * view.element_bytes();
  view.address += bytes;
  view.bytes -= std::min(bytes, view.bytes);
  view.extents[view.rank - 1] = size;
  return view;
}

// Copies one tensor into another, by the kernel of rotary with tables without pairs.
void copy_heads(const stream& s, const any_view& from, const any_view& to) {
  const auto as_one = [](any_view view) {
    if (view.rank == 4) return view;
    std::copy_backward(view.extents.begin(), view.extents.begin() + 3, view.extents.begin() + 4);
    std::copy_backward(view.strides.begin(), view.strides.begin() + 3, view.strides.begin() + 4);
    view.rank = 4;
    view.extents[0] = 1;
    view.strides[0] = view.extents[1] * view.strides[1];
    return view;
  };
  any_view table;  // without positions
  table.type = element_kind::f32;
  table.rank = 2;
  table.address = from.address;
  table.device = from.device;
  run_rotary(s, as_one(from), as_one(to), table, table, {});
}

// The ways of queries into the workspace: the append rotates `turned`, and `copied` are copied unchanged.
struct moved_queries {
  append_queries turned;
  std::vector<std::pair<any_view, any_view>> copied;
};

// `own`: the place of all queries in the workspace.
moved_queries move_queries(const attention_decode_arguments& arguments, const attention_view& own,
                           bool values_in_keys) {
  moved_queries moved;
  if (!own.exists()) return moved;
  const attention_decode_options& options = *arguments.options;
  const any_view q = queries_of(arguments.q), to = queries_of(own);
  const std::int64_t size = to.extents[to.rank - 1], of_values = arguments.cache.v.extents[3];
  const auto turn = [&](const any_view& from, const any_view& into) {
    moved.turned.in = from;
    moved.turned.out = into;
  };
  if (options.qv.view.exists()) {
    moved.copied.emplace_back(queries_of(options.qv.view), part_of_heads(to, 0, of_values));
    const any_view rest = part_of_heads(to, of_values, size - of_values);
    if (options.append.rotates())
      turn(q, rest);
    else
      moved.copied.emplace_back(q, rest);
  } else if (values_in_keys && of_values != size) {
    moved.copied.emplace_back(part_of_heads(q, 0, of_values), part_of_heads(to, 0, of_values));
    turn(part_of_heads(q, of_values, size - of_values), part_of_heads(to, of_values, size - of_values));
  } else {
    turn(q, to);
  }
  return moved;
}

// Rotates queries alone, by an append without heads: they belong to other sequences than the new keys.
void turn_queries(const stream& s, const attention_decode_arguments& arguments, any_cache cache,
                  const append_rotary& rotary, std::string_view caller) {
  append_kv_options to;
  to.rotary = rotary;
  to.constant = arguments.options->constant;
  if (arguments.sequences != nullptr) to.cu_seqlens = arguments.sequences->cu_q.numbers;
  cache.k.extents[2] = cache.v.extents[2] = 0;
  const auto without_heads = [&](const any_view& of) {
    any_view rows = rotary.q.in;
    rows.extents[rows.rank - 2] = 0;
    rows.extents[rows.rank - 1] = of.extents[3];
    return rows;
  };
  run_append_kv(s, without_heads(cache.k), without_heads(cache.v), cache, to, caller);
}

void append(const stream& s, const attention_decode_arguments& arguments, const append_queries& turned,
            bool values_in_keys) {
  const attention_decode_options& options = *arguments.options;
  const attention_append& given = options.append;
  const bool has_own_sequences = !given.cu_k.is_null();
  const any_cache cache = written_cache(arguments, values_in_keys);
  const std::string caller = std::string(arguments.operation) + ": append";
  append_rotary of_queries = given.rotary;
  of_queries.q = turned;
  append_kv_options to;
  to.rotary = has_own_sequences ? given.rotary : of_queries;
  to.k_scale_out = given.k_scale_out;
  to.v_scale_out = given.v_scale_out;
  to.k_scale.view = options.k_scale.numbers;
  to.v_scale.view = options.v_scale.numbers;
  to.constant = options.constant;
  if (has_own_sequences)
    to.cu_seqlens = given.cu_k;
  else if (arguments.sequences != nullptr)
    to.cu_seqlens = arguments.sequences->cu_q.numbers;
  run_append_kv(s, given.k.view, given.v.view, cache, to, caller);
  if (has_own_sequences && turned.in.exists()) turn_queries(s, arguments, cache, of_queries, caller);
}

// The plan of a call on a device. Throws if its workspace is too small.
planned_attention_decode checked_plan(const void* identity, const device_properties& device,
                                      const attention_decode_arguments& arguments,
                                      std::span<const attention_decode_variant> variants) {
  planned_attention_decode result = plan_attention_decode(identity, device, arguments, variants);
  const workspace_view& workspace = arguments.options->workspace;
  // A tuned choice requires its workspace. If none is given, tuning is ignored.
  if (workspace.address == 0 && result.workspace_bytes() != 0 && arguments.options->variant.empty())
    result = plan_without_tuning(identity, device, arguments, variants);
  if (result.blocks != 0)
    validation(arguments.operation, identity)
        .workspace("workspace", workspace.facts(), result.workspace_bytes(), 16);
  return result;
}

}  // namespace

planned_attention_decode prepare_attention_decode(const stream& s,
                                                  const attention_decode_arguments& arguments,
                                                  std::span<const attention_decode_variant> variants) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  planned_attention_decode result = checked_plan(s.device_identity(), device, arguments, variants);
  if (arguments.options->variant.empty())
    check_strictly(s, [&](const device_properties& other) {
      checked_plan(s.device_identity(), other, arguments, variants);
    });
  const workspace_view& workspace = arguments.options->workspace;
  attention_view own;  // queries in the workspace
  if (result.blocks != 0) {
    attention_split& split = result.call.split;
    split.sums = workspace.address;
    split.totals = workspace.address + result.sums;
    if (result.queries != 0) {
      attention_view all = arguments.q;
      all.extents[all.rank - 1] = result.call.problem.qk_size;
      own = dense_at(all, workspace.address + result.sums + result.totals, workspace.device);
      result.call.problem.q = strides_of(arguments.operation, "q", as_one_batch(own));
    }
  }
  const bool values_in_keys = result.call.values_in_keys;
  const moved_queries queries = move_queries(arguments, own, values_in_keys);
  const attention_append& given = arguments.options->append;
  if (given.exists()) {
    append(s, arguments, queries.turned, values_in_keys);
    // append_kv starts the next kernel when all work before append_kv has ended. Without tokens it is not
    // launched.
    if (!given.k.view.empty()) result.call.split.unsettled = static_cast<u32>(decode_unsettled::new_keys);
  }
  // Copies follow the append, which checks the most: if it refuses a call, nothing has run.
  for (const auto& [from, to] : queries.copied) copy_heads(s, from, to);
  return result;
}

}  // namespace kaio::ops::detail
