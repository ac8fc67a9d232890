#include "ops/attention/common/operands.hpp"

#include <kaio/runtime/error.hpp>

#include <cmath>
#include <cstddef>
#include <limits>

namespace kaio::ops::detail {

void refuse_attention(std::string_view operation, const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

void refuse_without_kernel(std::string_view operation, std::uint32_t qk_size, std::uint32_t v_size,
                           element_kind type, element_kind output, const device_properties& device,
                           std::string_view why) {
  std::string text = "kaio: " + std::string(operation) + ": no kernel for head sizes " +
                     std::to_string(qk_size) + " and " + std::to_string(v_size) + " of " + element_name(type);
  if (output != type) text += std::string(" with an out of ") + element_name(output);
  throw unsupported_device(text + " on " + device.name + " (sm_" + std::to_string(device.target.sm) +
                           (device.target.arch_specific ? "a" : "") +
                           "); the last kernel was refused because " + std::string(why));
}

attention_strides strides_of(std::string_view operation, std::string_view name, const attention_view& v) {
  enum : std::size_t { batch, row, head, element };
  if (v.strides[element] != 1 && v.extents[element] > 1)
    refuse_attention(
        operation,
        "argument " + std::string(name) + " has stride " + std::to_string(v.strides[element]) +
            " along its last dimension, the head size; it is 1: copy the tensor to memory of its own");
  const auto stride = [&](std::size_t d) { return v.extents[d] > 1 ? v.strides[d] : 0; };
  const std::int64_t size = v.element_bytes();
  bool by_16 = v.address % 16 == 0 && v.extents[element] * size % 16 == 0;
  for (const std::size_t d : {batch, row, head}) by_16 = by_16 && stride(d) * size % 16 == 0;
  return {v.address, stride(batch), stride(row), stride(head), by_16 ? 1u : 0u, 0};
}

attention_view as_one_batch(const attention_view& v) {
  attention_view result = v;
  if (v.rank == 0 || v.rank == 4) return result;
  result.rank = v.rank + 1;
  result.extents = {1, v.extents[0], v.extents[1], v.extents[2]};
  result.strides = {0, v.strides[0], v.strides[1], v.strides[2]};
  return result;
}

void check_scale_and_softcap(std::string_view operation, const std::optional<f32>& scale, f32 softcap) {
  if (scale && !(std::abs(*scale) <= 1e30f))  // the exponent multiplies it by log2(e)
    refuse_attention(operation, "a scale that is not from -1e30 to 1e30");
  if (!std::isfinite(softcap) || softcap < 0)
    refuse_attention(operation, "a softcap that is negative or not finite; 0 leaves it out");
  // Scores are divided by it, and multiplied by it.
  if (softcap != 0 && !(softcap >= 1e-30f && softcap <= 1e30f))
    refuse_attention(operation, "a softcap that is not from 1e-30 to 1e30; 0 leaves it out");
  // The kernels multiply by scale / softcap.
  const double ratio = softcap != 0 && scale ? std::abs(double{*scale} / double{softcap}) : 0;
  if (ratio != 0 && !(ratio >= 1e-37 && ratio <= 1e37))
    refuse_attention(operation, "a scale / softcap whose size is not from 1e-37 to 1e37");
}

void check_max_q(std::string_view operation, std::int64_t max_q, std::int64_t rows, std::int64_t sequences) {
  if (max_q < 0 || max_q > std::numeric_limits<std::int32_t>::max())
    refuse_attention(operation, "max_q is " + std::to_string(max_q) + "; it is from 0 to 2^31 - 1");
  if (max_q == 0 && rows != 0 && sequences != 0)
    refuse_attention(operation, "max_q is 0, and argument q has " + std::to_string(rows) +
                                    " rows; give the rows of the longest sequence, or 1 where all are empty");
}

void check_alibi(const validation& check, const attention_view& alibi, std::int64_t heads,
                 std::int64_t batches) {
  if (!alibi.exists()) return;
  check.input("alibi", alibi);
  check.extent("alibi", alibi, alibi.rank - 1, heads, "the heads of q");
  if (alibi.rank == 2 && alibi.extents[0] != 1)
    check.extent("alibi", alibi, 0, batches, "the batches, or one for all");
}

void check_sinks(const validation& check, const attention_view& sinks, std::int64_t heads) {
  if (!sinks.exists()) return;
  check.input("sinks", sinks);
  check.extent("sinks", sinks, 0, heads, "the heads of q");
}

void take_alibi(attention_terms& terms, const attention_view& alibi) {
  if (!alibi.exists()) return;
  terms.alibi = alibi.address;
  terms.alibi_batch = alibi.rank == 2 && alibi.extents[0] != 1 ? alibi.strides[0] : 0;
  terms.alibi_head = alibi.strides[alibi.rank - 1];
}

void take_sinks(attention_problem& problem, const attention_view& sinks) {
  if (!sinks.exists()) return;
  problem.sinks = sinks.address;
  problem.sink_head = sinks.strides[0];
  problem.sinks_are = static_cast<u32>(sinks.type == element_kind::f32   ? sink_type::f32
                                       : sinks.type == element_kind::f16 ? sink_type::f16
                                                                         : sink_type::bf16);
}

void take_lse(attention_problem& problem, const attention_view& lse) {
  if (!lse.exists()) return;
  problem.lse = lse.address;
  problem.lse_batch = lse.strides[0];
  problem.lse_head = lse.strides[1];
  problem.lse_row = lse.strides[2];
}

}  // namespace kaio::ops::detail
