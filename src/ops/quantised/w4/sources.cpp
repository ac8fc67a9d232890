// The tensors of files, checked, as the kernels of repack and dequantise take them.

#include <kaio/runtime/error.hpp>

#include <string>
#include <utility>

#include "ops/quantised/w4/resolve.hpp"

namespace kaio::ops::detail {

w4_source_arguments arguments_of(const gptq_w4& source) {
  return {.words_name = "qweight",
          .zeros_name = "qzeros",
          .scales_name = "scales",
          .order_name = "g_idx",
          .words = source.qweight.view,
          .zeros = source.qzeros.view,
          .scales = source.scales.view,
          .order = source.g_idx,
          .zeros_add = source.v2 ? 0u : 1u};
}

w4_source_arguments arguments_of(const awq_w4& source) {
  return {.words_name = "qweight",
          .zeros_name = "qzeros",
          .scales_name = "scales",
          .order_name = "",
          .words = source.qweight.view,
          .zeros = source.qzeros.view,
          .scales = source.scales.view,
          .words_along_n = true};
}

w4_source_arguments arguments_of(const compressed_tensors_w4& source) {
  return {.words_name = "weight_packed",
          .zeros_name = "weight_zero_point",
          .scales_name = "weight_scale",
          .order_name = "weight_g_idx",
          .words = source.weight_packed.view,
          .zeros = source.weight_zero_point.view,
          .scales = source.weight_scale.view,
          .order = source.weight_g_idx,
          .words_n_first = true,
          .zeros_n_first = true,
          .scales_n_first = true};
}

w4_source_arguments arguments_of(const kaio_int4& source) {
  return {.words_name = "packed",
          .zeros_name = "",
          .scales_name = "scales",
          .order_name = "",
          .words = source.packed.view,
          .zeros = {},
          .scales = source.scales.view,
          .words_n_first = true,
          .flip = 8};
}

namespace {

struct lines {
  u64 address;
  i64 along_k, along_n;  // strides
};

// A tensor of so many by so many, along K (groups) and along N, in that order or the other.
lines check_tensor(const validation& check, const any_view& memory, std::string_view name, const any_view& v,
                   std::int64_t along_k, std::int64_t along_n, bool n_first) {
  check.input(name, v);
  const std::size_t of_k = n_first ? 1 : 0, of_n = n_first ? 0 : 1;
  check.extent(name, v, of_k, along_k, "what k and the group give");
  check.extent(name, v, of_n, along_n, "what n gives");
  check.apart("weights", memory, name, v);
  return {v.address, v.strides[of_k], v.strides[of_n]};
}

}  // namespace

w4_source resolve_repack_w4(const void* device, const w4_source_arguments& source, const w4_weights& to) {
  constexpr std::string_view operation = "repack";
  const validation check(operation, device);
  w4_source result{};
  result.w = check_w4_weights(operation, device, to, true);
  const any_view memory = memory_view(to);
  const std::int64_t n = to.shape.n, k = to.shape.k, groups = result.w.groups;
  const auto eighth = [](std::int64_t x) { return (x + 7) / 8; };

  const bool along_n = source.words_along_n;
  const lines words = check_tensor(check, memory, source.words_name, source.words, along_n ? k : eighth(k),
                                   along_n ? eighth(n) : n, source.words_n_first);
  result.codes = words.address;
  result.codes_k = words.along_k;
  result.codes_n = words.along_n;
  result.along_n = along_n ? 1 : 0;
  result.flip = source.flip;

  const lines scales =
      check_tensor(check, memory, source.scales_name, source.scales, groups, n, source.scales_n_first);
  if (to.shape.codes != w4_codes::int4 && to.shape.codes != w4_codes::own)
    refuse_w4(operation, "words of integers for weights of other codes");
  if (to.shape.factors) refuse_w4(operation, "weights with factors of a format that has none");
  if (bytes_of(to.shape.scales) != 2)
    refuse_w4(operation, "the scales of this format are f16 or bf16, and the shape has others");
  const bool is_bf16 = source.scales.kind == element_kind::bf16;
  if (is_bf16 != (to.shape.scales == w4_scale_type::bf16))
    refuse_w4(operation, "argument " + std::string(source.scales_name) + " is " + (is_bf16 ? "bf16" : "f16") +
                             ", and the shape of the weights has the other type");
  result.scales = scales.address;
  result.scales_group = scales.along_k;
  result.scales_n = scales.along_n;

  if (to.shape.zero_points) {
    if (source.zeros_name.empty()) refuse_w4(operation, "weights with zero points of a format that has none");
    const lines zeros =
        check_tensor(check, memory, source.zeros_name, source.zeros, groups, eighth(n), source.zeros_n_first);
    result.zeros = zeros.address;
    result.zeros_group = zeros.along_k;
    result.zeros_n = zeros.along_n;
    result.zeros_add = source.zeros_add;
  }
  if (to.shape.ordered) {
    if (source.order_name.empty()) refuse_w4(operation, "ordered weights of a format that has no order");
    check.input(source.order_name, source.order);
    check.extent(source.order_name, source.order, 0, k, "k of the weights");
    check.apart("weights", memory, source.order_name, source.order);
    if (source.order.stride(0) != 1 && k > 1)
      refuse_w4(operation, "argument " + std::string(source.order_name) + " has stride " +
                               std::to_string(source.order.stride(0)) +
                               "; its numbers are neighbours: stride 1");
    result.order = source.order.address();
  }
  return result;
}

w4_matrix resolve_dequantise_w4(const void* device, const w4_weights& w, const any_view& out) {
  constexpr std::string_view operation = "dequantise";
  const validation check(operation, device);
  w4_matrix result{};
  if (w.shape.codes == w4_codes::own)
    refuse_w4(operation, "weights of own codes, whose numbers only their kernels have");
  result.w = check_w4_weights(operation, device, w, true);
  check.output("out", out);
  check.extent("out", out, 0, w.shape.n, "n of the weights");
  check.extent("out", out, 1, w.shape.k, "k of the weights");
  check.apart("out", out, "weights", memory_view(w));
  result.out = out.address;
  result.out_n = out.strides[0];
  result.out_k = out.strides[1];
  result.type = static_cast<u32>(out.kind == element_kind::f32   ? element_type::f32
                                 : out.kind == element_kind::f16 ? element_type::f16
                                                                 : element_type::bf16);
  return result;
}

}  // namespace kaio::ops::detail

namespace kaio::ops {

std::uint64_t packed_bytes(const w4_shape& shape) {
  w4_shape whole = shape;
  return detail::check_w4_shape("packed_bytes", whole).bytes;
}

}  // namespace kaio::ops
