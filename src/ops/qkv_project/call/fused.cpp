#include "ops/qkv_project/call/fused.hpp"
#include <kaio/ops/shared/device_refusal.hpp>

#include <algorithm>
#include <array>

#include "ops/qkv_project/common/product.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

std::string_view refusal_of_heads(const qkv_problem& p) {
  const u32 size = p.q.to.size;
  if (size != p.v.to.size || (size != 64 && size != 128))
    return "heads are not all of 64 or all of 128 elements";
  if (p.append.tables.pairs % run_size != 0) return "the number of rotated pairs is not a multiple of 8";
  for (const qkv_part* split : {&p.q, &p.k, &p.v})
    if (split->heads != 0 && (split->to.aligned == 0 || split->terms_aligned == 0))
      return "an output, a bias or a norm does not begin at multiples of 16 bytes";
  return {};
}

std::string_view refusal_of_matrices(const detail::qkv_arguments& a, const detail::qkv_call& call) {
  const qkv_problem& p = call.problem;
  if (const std::string_view of_heads = refusal_of_heads(p); !of_heads.empty()) return of_heads;
  if (call.k == 0 || !call.follows) return "the rows of x are not equally far apart";
  const auto at_16 = [](std::uint64_t bytes) { return bytes % 16 == 0; };
  const any_view x = detail::rows_of_x(a.x);
  if (!at_16(x.address) || (x.extents[0] > 1 && !at_16(static_cast<u64>(x.strides[0]) * x.element_bytes())))
    return "rows of x do not begin at multiples of 16 bytes";
  std::int64_t pitch = 0;
  for (std::uint32_t i = 0; i < call.count; ++i) {
    const projection_weight& w = a.weights->of[i];
    if (w.is_packed || w.matrix.element_bytes() != 2) return "weights are of 8 or 4 bits";
    if (call.projections[i].count == 0) continue;
    const bool along_k = w.matrix.strides[1] == 1 || call.k == 1;
    if (!along_k || !at_16(w.matrix.address) || !at_16(static_cast<u64>(w.matrix.strides[0]) * 2))
      return "rows of the weights do not begin at multiples of 16 bytes";
    if (pitch != 0 && pitch != w.matrix.strides[0]) return "the weights have different strides";
    pitch = w.matrix.strides[0];
  }
  if (call.count == 3 && (p.k.column % 128 != 0 || p.v.column % 128 != 0))
    return "a weight of three begins within a tile of 128 columns";
  return {};
}

bool has_tensor_maps(const detail::qkv_arguments& a, const detail::qkv_call& call) {
  constexpr std::int64_t most = std::int64_t{1} << 39;  // 16-bit elements between lines
  const auto has_map = [&](std::int64_t lines, std::int64_t pitch) {
    return lines == 1 || (pitch >= std::int64_t{call.k} && pitch < most);
  };
  const any_view x = detail::rows_of_x(a.x);
  const any_view& w = a.weights->of[0].matrix;
  return call.count == 1 && has_map(x.extents[0], x.strides[0]) && has_map(w.extents[0], w.strides[0]);
}

std::string_view refusal_of_fused(const qkv_variant& v, const detail::qkv_arguments& a,
                                  const detail::qkv_call& call, const device_properties& device) {
  if (v.copies_tensors && call.count != 1) return "it takes one weight for Q, K and V, not three";
  if (const std::string_view why = refusal_of_matrices(a, call); !why.empty()) return why;
  if (v.copies_tensors && !has_tensor_maps(a, call))
    return "tensor copies take rows that do not overlap, less than 2^40 bytes apart";
  return device_refusal(v.image->needs, device);
}

std::array<std::span<const qkv_variant>, 2> fused_variants(element_kind kind) {
  if (kind == element_kind::f16) return {qkv_mma_f16_rows(), qkv_sm90_f16_rows()};
  return {qkv_mma_bf16_rows(), qkv_sm90_bf16_rows()};
}

qkv_w16_weights matrices_of(const detail::qkv_arguments& a, const detail::qkv_call& call) {
  qkv_w16_weights result{};
  std::array<u64, 3> first{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const projection_weight& w = a.weights->of[call.count == 3 ? i : 0];
    const std::uint32_t column = call.count == 3 ? call.projections[i].first : 0;
    if (call.count == 3 && call.projections[i].count == 0) continue;
    result.row = w.matrix.strides[0];
    first[i] = w.matrix.address - u64{column} * static_cast<u64>(w.matrix.strides[0]) * sizeof(f16);
  }
  result.at = {first[0], first[1], first[2]};
  return result;
}

}  // namespace kaio::ops
