// The table of attention's kernels, and which of them a call takes: the first one that can run it. Those for
// sm_90a are tried before those of mma.sync, and tf32 where it is asked for before exact f32; within a family
// the kernels of a type differ in the head sizes that they are made for, and a smaller one is always the
// faster one.

#include "ops/attention/choice/table.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <string>

namespace kaio::ops {

namespace {

constexpr i64 most_stride = i64{1} << 39;  // of tensor copies, in elements of 2 bytes

// Why a kernel cannot run a call; nullptr: it can.
const char* reason(const attention_variant& v, const attention_call& call, const device_properties& device) {
  const ptx::needs& needs = v.image->needs;
  const ptx::target target = device.target;
  if (v.in_blocks != call.in_blocks)
    return call.in_blocks ? "it reads no lists of blocks" : "it is made for lists of blocks";
  if (v.type != call.type) return "it is made for another element type";
  if (v.precision > call.precision) return "it rounds to tf32, which the options do not ask for";
  if (needs.target.arch_specific ? target.sm != needs.target.sm || !target.arch_specific
                                 : target.sm < needs.target.sm)
    return "it is made for another architecture";
  if (device.ptx_version < needs.version) return "the driver is older than the PTX that it is written in";
  if (std::max(needs.shared_bytes, needs.dynamic_shared_bytes) > device.shared_per_block_optin)
    return "it needs more shared memory than a block of this device has";
  if (call.problem.qk_size > v.depth_qk || call.problem.v_size > v.depth_v)
    return "the head size is larger than it is made for";
  if (v.plain && call.terms.plain == 0) return "it has neither soft cap nor ALiBi, and no scale of 0 or less";
  if (!v.is_biased && (call.bias.address != 0 || call.keep.address != 0))
    return "it reads no bias and no keep";
  if (!v.writes_f32 && call.output != call.type) return "it writes the element type of q, k and v";
  const attention_problem& p = call.problem;
  // Of packed sequences the lengths are not known here, and each of them may be asked for alone.
  if (v.least_keys != 0 && (p.packed != 0 || call.batch_invariant || p.keys < v.least_keys))
    return "it is made for more keys";
  if (v.copies_tensors) {
    if ((p.q.by_16 & p.k.by_16 & p.v.by_16 & p.o.by_16) == 0)
      return "rows do not begin at multiples of 16 bytes";
    if (call.k.rows == 0) return "there are no keys to copy";
    i64 longest = 0;
    for (const attention_strides& s : {p.q, p.k, p.v}) longest = std::max({longest, s.batch, s.row, s.head});
    if (longest >= most_stride) return "tensor copies take strides below 2^40 bytes";
  }
  return nullptr;
}

}  // namespace

std::span<const attention_variant> all_attention_variants() {
  static const auto& all = *new std::vector<attention_variant>([] {
    std::vector<attention_variant> list;
    for (const auto family : {attention_sm90_f16, attention_sm90_bf16, attention_mma_f16, attention_mma_bf16,
                              attention_mma_sm75, attention_mma_tf32, attention_simt_f32, attention_simt_f16,
                              attention_sm90_blocks_f16, attention_sm90_blocks_bf16, attention_mma_blocks_f16,
                              attention_mma_blocks_bf16, attention_simt_blocks_f32})
      for (const attention_variant& v : family()) list.push_back(v);
    return list;
  }());
  return all;
}

std::vector<const ptx::kernel_image*> attention_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const attention_variant& v : all_attention_variants()) list.push_back(v.image);
  return list;
}

namespace detail {

std::size_t choose_attention(std::string_view operation, const attention_call& call,
                             std::span<const attention_variant> variants, const device_properties& device) {
  const char* last = "there is none for this element type";
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const char* const why = reason(variants[i], call, device);
    if (why == nullptr) return i;
    if (variants[i].type == call.type) last = why;
  }
  const std::string text = "kaio: " + std::string(operation) + ": no kernel for head sizes " +
                           std::to_string(call.problem.qk_size) + " and " +
                           std::to_string(call.problem.v_size) + " on " + device.name + " (sm_" +
                           std::to_string(device.target.sm) + "); the last one was left out because " + last;
  throw unsupported_device(text);
}

}  // namespace detail

}  // namespace kaio::ops
