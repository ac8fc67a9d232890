// Which variants can run a call, and why the others cannot.

#include <kaio/ops/attention/common/pair_biased_score.hpp>
#include <kaio/ops/shared/device_refusal.hpp>

#include <algorithm>

#include "ops/attention/forward/choice/table.hpp"

namespace kaio::ops {

namespace {
constexpr i64 most_stride = i64{1} << 39;  // for tensor copies, in elements of 2 bytes
}  // namespace

std::string_view refusal(const attention_variant& v, const attention_call& call,
                         const device_properties& device) {
  const ptx::needs& needs = v.image->needs;
  const attention_problem& p = call.problem;
  if (v.in_blocks != call.in_blocks)
    return call.in_blocks ? "it reads no lists of blocks" : "it needs lists of blocks";
  if (v.type != call.type) return "it supports another element type";
  if (v.precision > call.precision) return "it rounds to tf32, which the options do not ask for";
  if (const std::string_view why = device_refusal(needs, device); !why.empty()) return why;
  if (call.problem.qk_size > v.depth_qk || call.problem.v_size > v.depth_v)
    return "the head size is larger than it supports";
  if (v.plain && call.terms.plain == 0) return "it has neither soft cap nor ALiBi, and no scale of 0 or less";
  if (!v.reads_tensors() && (call.bias.address != 0 || call.keep.address != 0))
    return "it reads no bias and no keep";
  if (v.reads_pairs) {
    if (call.terms.softcap != 0 || call.terms.alibi != 0) return "it has neither soft cap nor ALiBi";
    if (call.batch_invariant) return "whether it can run depends on the number of keys";
    if (score_pairs::of(call.bias, call.keep, p.keys).address == 0)
      return "it reads a bias of its element type, or keep, in pairs of neighbouring keys";
  }
  if (!v.writes_f32 && call.output != call.type) return "it writes the element type of q, k and v";
  if (v.copies_tensors) {
    if ((p.q.by_16 & p.k.by_16 & p.v.by_16 & p.o.by_16) == 0)
      return "rows do not begin at multiples of 16 bytes";
    if (call.k.rows == 0) return "there are no keys to copy";
    i64 longest = 0;
    for (const attention_strides& s : {p.q, p.k, p.v}) longest = std::max({longest, s.batch, s.row, s.head});
    if (longest >= most_stride) return "tensor copies take strides below 2^40 bytes";
  }
  return {};
}

}  // namespace kaio::ops
