// The choice of a kernel for an attention_decode, and the division of its work.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "ops/attention/common/operands.hpp"
#include "ops/attention/decode/choice/forms.hpp"
#include "ops/attention/decode/choice/plan.hpp"
#include "ops/attention/decode/choice/table.hpp"
#include "ops/choice/recent_choices.hpp"
#include "ops/choice/signature.hpp"

namespace kaio::ops {

namespace {

// Whether a kernel is made for these elements of Q and of the cache.
bool is_of_types(const attention_decode_variant& v, const attention_decode_call& call) {
  if (v.any_type) return true;
  return v.takes_codes ? call.has_codes() && call.type != element_kind::f32
                       : !call.has_codes() && v.type == call.type;
}

bool has_narrow_strides(const attention_strides& s) {
  const auto is_narrow = [](std::int64_t stride) { return stride >= 0 && stride <= 0xffffffffll; };
  return is_narrow(s.batch) && is_narrow(s.row);
}

// Why a kernel cannot run a call; empty: it can.
std::string_view refusal(const attention_decode_variant& v, const attention_decode_call& call,
                         const device_properties& device) {
  const ptx::needs& needs = v.image->needs;
  if (!is_of_types(v, call)) return "it supports another element type";
  if (call.combining == attention_combining::cluster && !v.has_clusters)
    return "a second kernel adds up its splits";
  if (const std::string_view why = device_refusal(needs, device); !why.empty()) return why;
  if (std::max(call.problem.qk_size, call.problem.v_size) > v.depth ||
      (v.depth_v != 0 && call.problem.v_size > v.depth_v))
    return "the head size is larger than it supports";
  if (v.copies_rows && (call.problem.k.by_16 & call.problem.v.by_16) == 0)
    return "rows of keys do not begin at multiples of 16 bytes";
  if (v.is_narrow && call.problem.q.by_16 == 0)
    return "rows of queries do not begin at multiples of 16 bytes";
  if (v.is_narrow && !(has_narrow_strides(call.problem.k) && has_narrow_strides(call.problem.v)))
    return "rows or pages of keys are in descending order, or further apart than it is made for";
  if (v.plain && call.terms.plain == 0) return "it has neither soft cap nor ALiBi, and no scale of 0 or less";
  if (v.values_in_keys && !call.values_in_keys) return "the values are not the first elements of the keys";
  if (call.split.rows < v.least_rows) return "fewer queries and heads share a KV head than it supports";
  if (v.most_rows != 0 && call.split.rows > v.most_rows)
    return "more queries and heads share a KV head than it supports";
  return {};
}

// Returns the index of the named variant, or of the first one that can run the call.
std::size_t choose(std::string_view operation, const attention_decode_call& call,
                   std::span<const attention_decode_variant> variants, const device_properties& device,
                   std::string_view forced) {
  std::string_view last = "no kernel supports this element type";
  for (const attention_decode_variant& v : variants) {
    if (!forced.empty() && v.name() != forced) continue;
    const std::string_view why = refusal(v, call, device);
    if (why.empty()) return static_cast<std::size_t>(&v - variants.data());
    if (is_of_types(v, call)) last = why;
    if (!forced.empty())
      throw invalid_argument("kaio: " + std::string(operation) + ": variant " + std::string(forced) +
                             " cannot run this call: " + std::string(why) + "; leave the variant out");
  }
  if (!forced.empty())
    throw invalid_argument("kaio: " + std::string(operation) + ": there is no variant " +
                           std::string(forced) +
                           "; leave it out, or name one that attention_decode_choice has named");
  detail::refuse_without_kernel(operation, call.problem.qk_size, call.problem.v_size, call.type, call.type,
                                device, last);
}

using decode_signature = words_signature<9>;

// The signature contains what is known before there is an output or a workspace.
decode_signature signature_of(const attention_decode_call& call) {
  const attention_problem& p = call.problem;
  const auto pair = [](std::uint64_t high, std::uint64_t low) { return high << 32 | low; };
  packed_word kind;
  kind.add(static_cast<std::uint64_t>(call.type), 2).add(call.codes.kept, 2).add(call.cache.form, 2);
  for (const bool is : {p.q.by_16 != 0, p.k.by_16 != 0, p.v.by_16 != 0, has_narrow_strides(p.k),
                        has_narrow_strides(p.v), call.is_packed(), call.values_in_keys, call.terms.plain != 0,
                        call.codes.k.by_key != 0, call.codes.v.by_key != 0})
    kind.add(is, 1);
  return {{p.batches, p.queries, call.packed_rows, p.heads, call.split.key_heads.value,
           pair(p.qk_size, p.v_size), call.most_keys, pair(call.cache.page.value, call.cache.max_keys),
           kind.value()}};
}

// The result has no variant if none has this name.
decode_choice choice_named(const attention_decode_call& call, const device_properties& device,
                           std::string_view name) {
  const std::uint32_t splits = splits_of_name(name);
  if (splits < 1 || splits > 256) return {};
  for (const decode_choice& c : decode_choices(call, device, splits))
    if (c.name() == name) return c;
  return {};
}

decode_choice tuned_choice(const attention_decode_call& call, const device_properties& device) {
  thread_local recent_choices<decode_signature, decode_choice> recent;
  return recent.find(signature_of(call), device, [&] {
    const std::string name = find_tuned(device, tuning_key(call));
    return name.empty() ? decode_choice{} : choice_named(call, device, name);
  });
}

}  // namespace

std::string decode_choice::name() const {
  return name_with_splits(variant->name(), division.splits, division.in_cluster);
}

std::string tuning_key(const attention_decode_call& call) {
  return signature_of(call).text("attention_decode");
}

bool is_open(const attention_decode_options& options) {
  return options.splits == 0 && options.combining == attention_combining::automatic &&
         !options.batch_invariant;
}

bool has_own_queries(const attention_decode_options& options) {
  return options.append.rotates() || options.qv.view.exists();
}

std::vector<decode_choice> decode_choices(const attention_decode_call& call, const device_properties& device,
                                          std::uint32_t asked) {
  constexpr std::uint64_t waves = 4;  // of blocks: keys are not divided into more
  std::vector<std::uint32_t> numbers{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
  if (asked != 0) numbers = {asked};
  std::vector<decode_choice> result;
  for (const attention_decode_variant& v : attention_decode_variants()) {
    if (!refusal(v, call, device).empty()) continue;
    const std::uint64_t tiles = (call.most_keys + v.keys - 1) / v.keys;
    const std::uint64_t blocks = call.row_tiles(v.rows) * call.split.key_heads.value * call.problem.batches;
    for (const std::uint32_t splits : numbers) {
      if (asked == 0 && splits > 1 &&
          (splits > tiles || blocks * splits > waves * resident_blocks(v, device)))
        break;
      result.push_back({&v, {.splits = splits, .least = v.keys}});
      if (v.has_clusters && (splits == 2 || splits == 4 || splits == 8 || splits == 16))
        result.push_back({&v, {.splits = splits, .least = v.keys, .in_cluster = true}});
    }
  }
  return result;
}

decode_choice choice_of(const detail::planned_attention_decode& planned) {
  const attention_split& split = planned.call.split;
  return {&attention_decode_variants()[planned.chosen],
          {split.splits.value, split.chunk, split.least, split.in_cluster != 0}};
}

namespace detail {

planned_attention_decode divide_attention_decode(std::string_view operation, const attention_decode_call& of,
                                                 std::span<const attention_decode_variant> variants,
                                                 const decode_choice& choice, bool rotates) {
  planned_attention_decode result;
  result.call = of;
  attention_decode_call& call = result.call;
  result.chosen = static_cast<std::size_t>(choice.variant - variants.data());
  const attention_decode_division& division = choice.division;
  const attention_decode_room room = room_of(operation, call, division);
  result.sums = room.sums;
  result.totals = room.totals;
  if (rotates) {
    result.totals = (room.totals + 15) / 16 * 16;
    result.queries = call.results() * call.problem.qk_size * bytes_of(call.type);
  }
  call.split.row_tiles = divisor::of(std::max(static_cast<u32>(call.row_tiles(choice.variant->rows)), 1u));
  call.split.splits = divisor::of(division.splits);
  call.split.chunk = division.chunk;
  call.split.least = division.least;
  call.split.in_cluster = division.in_cluster ? 1 : 0;
  call.split.pitch = room.pitch;
  const double blocks = static_cast<double>(call.split.row_tiles.value) * call.split.key_heads.value *
                        division.splits * call.problem.batches;
  if (blocks > std::numeric_limits<std::int32_t>::max())
    throw invalid_argument("kaio: " + std::string(operation) +
                           ": more than 2^31 blocks; give a smaller max_length, or divide the batch");
  result.blocks = std::uint64_t{call.split.row_tiles.value} * call.split.key_heads.value * division.splits *
                  call.problem.batches;
  return result;
}

namespace {

planned_attention_decode plan_checked(const device_properties& properties,
                                      const attention_decode_arguments& arguments,
                                      const attention_decode_call& call,
                                      std::span<const attention_decode_variant> variants) {
  const attention_decode_variant& v =
      variants[choose(arguments.operation, call, variants, properties, arguments.options->variant)];
  return divide_attention_decode(arguments.operation, call, variants,
                                 {&v, divide_in_best_form(v, call, properties)},
                                 has_own_queries(*arguments.options));
}

planned_attention_decode nothing(const attention_decode_call& call) {
  planned_attention_decode result;
  result.call = call;
  return result;
}

}  // namespace

planned_attention_decode plan_without_tuning(const void* device, const device_properties& properties,
                                             const attention_decode_arguments& arguments,
                                             std::span<const attention_decode_variant> variants) {
  const attention_decode_call call = resolve_attention_decode(device, arguments);
  return call.empty() ? nothing(call) : plan_checked(properties, arguments, call, variants);
}

planned_attention_decode plan_attention_decode(const void* device, const device_properties& properties,
                                               const attention_decode_arguments& arguments,
                                               std::span<const attention_decode_variant> variants) {
  const attention_decode_options& options = *arguments.options;
  const attention_decode_call call = resolve_attention_decode(device, arguments);
  if (call.empty()) return nothing(call);
  const bool has_own_kernels = variants.data() != attention_decode_variants().data();
  const bool is_named = options.variant.find(':') != std::string_view::npos;
  if (!has_own_kernels && is_open(options) && (options.variant.empty() || is_named)) {
    const decode_choice choice =
        is_named ? choice_named(call, properties, options.variant) : tuned_choice(call, properties);
    if (choice.variant != nullptr) {
      const planned_attention_decode divided =
          divide_attention_decode(arguments.operation, call, variants, choice, has_own_queries(options));
      const workspace_view& workspace = options.workspace;
      if (is_named || workspace.address == 0 || divided.workspace_bytes() <= workspace.bytes) return divided;
    }
  }
  return plan_checked(properties, arguments, call, variants);
}

}  // namespace detail

}  // namespace kaio::ops
