// The table of attention_backward's kernels, and which of them a call takes: the first one that can run it.

#include "ops/attention/backward/choice/table.hpp"
#include <kaio/ops/shared/device_refusal.hpp>

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <string>

#include "ops/attention/common/operands.hpp"

namespace kaio::ops {

namespace {

constexpr i64 most_stride = i64{1} << 39;  // of tensor copies, in elements of 2 bytes

// Why a kernel cannot run a call; empty: it can.
std::string_view refusal(const attention_backward_variant& v, const attention_backward_call& call,
                         const device_properties& device) {
  if (!v.any_type && v.type != call.forward.type) return "it supports another element type";
  if (!detail::is_made_for(v, device.target)) return "it is made for another architecture";
  for (const ptx::kernel_image* const image : v.images) {
    if (image == nullptr) continue;
    const ptx::needs& needs = image->needs;
    if (const std::string_view why = device_refusal(needs, device); !why.empty()) return why;
  }
  const attention_problem& p = call.forward.problem;
  if (p.qk_size > v.depth_qk || p.v_size > v.depth_v) return "the head size is larger than it supports";
  if (v.plain && !call.forward.empty() && call.forward.terms.plain == 0)
    return "it has neither soft cap nor ALiBi, and no scale of 0 or less";
  if (!v.is_biased && (call.forward.bias.address != 0 || call.forward.keep.address != 0))
    return "it reads no bias and no keep";
  // If dbias has one element per score, the kernel that computes the scores writes it.
  if (v.is_biased && !v.writes_dbias && detail::has_full_bias_gradient(call))
    return "it does not write the gradient of a bias";
  if (v.copies_tensors) {
    const attention_gradients& g = call.gradients;
    for (const attention_strides& s : {p.q, p.k, p.v, g.dout, g.dq, g.dk, g.dv}) {
      if (s.address != 0 && s.by_16 == 0) return "rows do not begin at multiples of 16 bytes";
      if (std::max({s.batch, s.row, s.head}) >= most_stride)
        return "tensor copies take strides below 2^40 bytes";
    }
    if (call.longest_keys == 0 || call.forward.empty()) return "there is nothing to copy";
  }
  return {};
}

}  // namespace

std::span<const attention_backward_variant> all_attention_backward_variants() {
  static const auto& all = *new std::vector<attention_backward_variant>([] {
    std::vector<attention_backward_variant> list;
    for (const auto family : attention_backward_variant_families)
      for (const attention_backward_variant& v : family()) list.push_back(v);
    return list;
  }());
  return all;
}

std::vector<const ptx::kernel_image*> attention_backward_kernels() {
  std::vector<const ptx::kernel_image*> list = attention_backward_common_kernels();
  for (const attention_backward_variant& v : all_attention_backward_variants())
    for (const ptx::kernel_image* const image : v.images)
      if (image != nullptr && std::find(list.begin(), list.end(), image) == list.end()) list.push_back(image);
  return list;
}

namespace detail {

bool is_made_for(const attention_backward_variant& variant, const ptx::target& target) {
  return std::all_of(variant.images.begin(), variant.images.end(), [&](const ptx::kernel_image* image) {
    if (image == nullptr) return true;
    const ptx::target needed = image->needs.target;
    return needed.arch_specific ? target.sm == needed.sm && target.arch_specific : target.sm >= needed.sm;
  });
}

std::size_t choose_attention_backward(std::string_view operation, const attention_backward_call& call,
                                      std::span<const attention_backward_variant> variants,
                                      const device_properties& device) {
  std::string_view last = "no kernel supports this element type";
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::string_view why = refusal(variants[i], call, device);
    if (why.empty()) return i;
    if (variants[i].any_type || variants[i].type == call.forward.type) last = why;
  }
  refuse_without_kernel(operation, call.forward.problem.qk_size, call.forward.problem.v_size,
                        call.forward.type, call.forward.type, device, last);
}

}  // namespace detail

}  // namespace kaio::ops
