// The table of attention_decode's kernels, and which of them a call takes.

#include <kaio/ops/attention_decode.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <string>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

namespace {

std::span<const attention_decode_variant> all_variants() {
  static const auto& all = *new std::vector<attention_decode_variant>([] {
    std::vector<attention_decode_variant> list;
    for (const auto family : {attention_decode_mma_f16, attention_decode_mma_bf16, attention_decode_mma_codes,
                              attention_decode_simt_rows})
      for (const attention_decode_variant& v : family()) list.push_back(v);
    return list;
  }());
  return all;
}

// Whether a kernel is made for these elements of Q and of the cache.
bool is_of_types(const attention_decode_variant& v, const attention_decode_call& call) {
  if (v.any_type) return true;
  return v.takes_codes ? call.has_codes() && call.type != attention_type::f32
                       : !call.has_codes() && v.type == call.type;
}

// Why a kernel cannot run a call; nullptr: it can.
const char* reason(const attention_decode_variant& v, const attention_decode_call& call,
                   const device_properties& device) {
  const ptx::needs& needs = v.image->needs;
  if (!is_of_types(v, call)) return "it is made for another element type";
  if (device.target.sm < needs.target.sm) return "it is made for another architecture";
  if (device.ptx_version < needs.version) return "the driver is older than the PTX that it is written in";
  if (std::max(needs.shared_bytes, needs.dynamic_shared_bytes) > device.shared_per_block_optin)
    return "it needs more shared memory than a block of this device has";
  if (std::max(call.problem.qk_size, call.problem.v_size) > v.depth)
    return "the head size is larger than it is made for";
  if (v.copies_rows && (call.problem.k.by_16 & call.problem.v.by_16) == 0)
    return "rows of keys do not begin at multiples of 16 bytes";
  if (v.most_rows != 0 && call.split.rows > v.most_rows)
    return "more queries and heads share a head of keys than it is made for";
  return nullptr;
}

}  // namespace

const attention_decode_variant& choose(std::string_view operation, const attention_decode_call& call,
                                       const device_properties& device, std::string_view forced) {
  const char* last = "there is none for this element type";
  for (const attention_decode_variant& v : all_variants()) {
    if (!forced.empty() && v.image->name != forced) continue;
    const char* const why = reason(v, call, device);
    if (why == nullptr) return v;
    if (is_of_types(v, call)) last = why;
    if (!forced.empty())
      throw invalid_argument("kaio: " + std::string(operation) + ": variant " + std::string(forced) +
                             " cannot run this call: " + why + "; leave the variant out");
  }
  if (!forced.empty())
    throw invalid_argument("kaio: " + std::string(operation) + ": there is no variant " +
                           std::string(forced) +
                           "; leave it out, or name one that attention_decode_choice has named");
  throw unsupported_device("kaio: " + std::string(operation) + ": no kernel for head sizes " +
                           std::to_string(call.problem.qk_size) + " and " +
                           std::to_string(call.problem.v_size) + " on " + device.name + " (sm_" +
                           std::to_string(device.target.sm) + "); the last one was left out because " + last);
}

std::vector<const ptx::kernel_image*> attention_decode_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const attention_decode_variant& v : all_variants()) list.push_back(v.image);
  list_attention_decode_combine_kernels(list);
  return list;
}

}  // namespace kaio::ops
