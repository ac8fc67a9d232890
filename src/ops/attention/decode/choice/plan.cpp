// Which kernel of some an attention_decode takes, and how its work is divided.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "ops/attention/call/operands.hpp"
#include "ops/attention/decode/choice/division.hpp"
#include "ops/attention/decode/choice/forms.hpp"

namespace kaio::ops {

namespace {

// Whether a kernel is made for these elements of Q and of the cache.
bool is_of_types(const attention_decode_variant& v, const attention_decode_call& call) {
  if (v.any_type) return true;
  return v.takes_codes ? call.has_codes() && call.type != attention_type::f32
                       : !call.has_codes() && v.type == call.type;
}

bool has_narrow_strides(const attention_strides& s) {
  const auto is_narrow = [](std::int64_t stride) { return stride >= 0 && stride <= 0xffffffffll; };
  return is_narrow(s.batch) && is_narrow(s.row);
}

// Why a kernel cannot run a call; nullptr: it can.
const char* reason(const attention_decode_variant& v, const attention_decode_call& call,
                   const device_properties& device) {
  const ptx::needs& needs = v.image->needs;
  if (!is_of_types(v, call)) return "it is made for another element type";
  if (call.combining == attention_combining::cluster && !v.has_clusters)
    return "its parts are added up by a second kernel";
  if (device.target.sm < needs.target.sm) return "it is made for another architecture";
  if (device.ptx_version < needs.version) return "the driver is older than the PTX that it is written in";
  if (std::max(needs.shared_bytes, needs.dynamic_shared_bytes) > device.shared_per_block_optin)
    return "it needs more shared memory than a block of this device has";
  if (std::max(call.problem.qk_size, call.problem.v_size) > v.depth ||
      (v.depth_v != 0 && call.problem.v_size > v.depth_v))
    return "the head size is larger than it is made for";
  if (v.copies_rows && (call.problem.k.by_16 & call.problem.v.by_16) == 0)
    return "rows of keys do not begin at multiples of 16 bytes";
  if (v.is_narrow && call.problem.q.by_16 == 0)
    return "rows of queries do not begin at multiples of 16 bytes";
  if (v.is_narrow && !(has_narrow_strides(call.problem.k) && has_narrow_strides(call.problem.v)))
    return "rows or pages of keys are in descending order, or further apart than it is made for";
  if (v.values_in_keys && !call.values_in_keys) return "the values are not the first elements of the keys";
  if (call.split.rows < v.least_rows)
    return "fewer queries and heads share a head of keys than it is made for";
  if (v.most_rows != 0 && call.split.rows > v.most_rows)
    return "more queries and heads share a head of keys than it is made for";
  return nullptr;
}

// The one that is named, or the first one that can run the call.
std::size_t choose(std::string_view operation, const attention_decode_call& call,
                   std::span<const attention_decode_variant> variants, const device_properties& device,
                   std::string_view forced) {
  const char* last = "there is none for this element type";
  for (const attention_decode_variant& v : variants) {
    if (!forced.empty() && v.image->name != forced) continue;
    const char* const why = reason(v, call, device);
    if (why == nullptr) return static_cast<std::size_t>(&v - variants.data());
    if (is_of_types(v, call)) last = why;
    if (!forced.empty())
      throw invalid_argument("kaio: " + std::string(operation) + ": variant " + std::string(forced) +
                             " cannot run this call: " + why + "; leave the variant out");
  }
  if (!forced.empty())
    throw invalid_argument("kaio: " + std::string(operation) + ": there is no variant " +
                           std::string(forced) +
                           "; leave it out, or name one that attention_decode_choice has named");
  detail::refuse_without_kernel(operation, call.problem.qk_size, call.problem.v_size, call.type, call.type,
                                device, last);
}

}  // namespace

namespace detail {

planned_attention_decode plan_attention_decode(const void* device, const device_properties& properties,
                                               const attention_decode_arguments& arguments,
                                               std::span<const attention_decode_variant> variants) {
  planned_attention_decode result;
  result.call = resolve_attention_decode(device, arguments);
  attention_decode_call& call = result.call;
  if (call.empty()) return result;
  result.chosen = choose(arguments.operation, call, variants, properties, arguments.options->variant);
  const attention_decode_variant& variant = variants[result.chosen];
  const attention_decode_division division = divide_in_best_form(variant, call, properties);
  const attention_decode_room room = room_of(arguments.operation, call, division);
  result.sums = room.sums;
  result.totals = room.totals;
  if (arguments.options->append.rotates()) {
    result.totals = (room.totals + 15) / 16 * 16;
    result.queries = call.results() * call.problem.qk_size * bytes_of(call.type);
  }
  call.split.row_tiles = divisor::of(std::max(static_cast<u32>(call.row_tiles(variant.rows)), 1u));
  call.split.parts = divisor::of(division.parts);
  call.split.chunk = division.chunk;
  call.split.least = division.least;
  call.split.in_cluster = division.in_cluster ? 1 : 0;
  call.split.pitch = room.pitch;
  const double blocks = static_cast<double>(call.split.row_tiles.value) * call.split.key_heads.value *
                        division.parts * call.problem.batches;
  if (blocks > std::numeric_limits<std::int32_t>::max())
    throw invalid_argument("kaio: " + std::string(arguments.operation) +
                           ": more than 2^31 blocks; give a smaller max_length, or divide the batch");
  result.blocks = std::uint64_t{call.split.row_tiles.value} * call.split.key_heads.value * division.parts *
                  call.problem.batches;
  return result;
}

}  // namespace detail

}  // namespace kaio::ops
