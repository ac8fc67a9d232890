#pragma once
// Decodes codes and scales to f32, exactly.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/formats/code_problem.hpp>

#include <cstdint>

namespace kaio::ops {

// e4m3 bits placed in an f16 read as the number / 256. The only NaN is 0x7f, of either sign.
constexpr val<f32> number_of_e4m3(thread t, const val<u32>& code) {
  const val magnitude = t.let(code & 0x7fu);
  const val half = t.let((code & 0x80u) << 8 | magnitude << 7);
  const val number = t.let(cast<f32>(bit_cast<f16>(cast<u16>(half))) * 256.0f);
  return t.let(select(magnitude == 0x7fu, bit_cast<f32>(t.let(0x7fc00000u)), number));
}
constexpr val<f32> number_of_e5m2(thread t, const val<u32>& code) {
  return t.let(cast<f32>(bit_cast<f16>(cast<u16>(code << 8))));
}
constexpr val<f32> number_of_i8(thread t, const val<u32>& code) {
  return t.let(cast<f32>(cast<i32>(code << 24) >> 24));
}
// 2^(b - 127); 255 is NaN.
constexpr val<f32> number_of_e8m0(thread t, const val<u32>& b) {
  const val bits = t.let(select(b == 0u, 0x00400000u, b << 23));
  return t.let(bit_cast<f32>(t.let(select(b == 255u, 0x7fc00000u, bits))));
}

// Scale number `index`.
template <class Problem>
constexpr val<f32> load_scale(thread t, const Problem& p, const val<i64>& index) {
  var<f32> scale(t, 0.0f);
  const val kind = t.let(p[&code_problem::scales_kind]);
  const val scales = t.let(p[&code_problem::scales]);
  if (auto is = t.when(kind == u32{scale_kind::f32})) scale = pointer_at<in<f32>>(t, scales)[index];
  if (auto is = t.when(kind == u32{scale_kind::f16}))
    scale = cast<f32>(bit_cast<f16>(pointer_at<in<u16>>(t, scales)[index]));
  if (auto is = t.when(kind == u32{scale_kind::bf16}))
    scale = bit_cast<f32>(cast<u32>(pointer_at<in<u16>>(t, scales)[index]) << 16);
  if (auto is = t.when(kind >= u32{scale_kind::e8m0})) {
    const val byte = t.let(cast<u32>(pointer_at<in<u8>>(t, scales)[index]));
    if (auto power = t.when(kind == u32{scale_kind::e8m0})) scale = number_of_e8m0(t, byte);
    if (auto little = t.when(kind == u32{scale_kind::e4m3})) scale = number_of_e4m3(t, byte);
    if (auto nested = t.when(kind == u32{scale_kind::nested})) {
      const val of_block = t.let(pointer_at<in<f32>>(
          t, t.let(p[&code_problem::nested_scales]))[index >> p[&code_problem::nested_log2]]);
      const val number = t.let(pointer_at<in<f32>>(t, t.let(p[&code_problem::nested_map]))[byte]);
      scale = number * of_block + p[&code_problem::nested_offset];
    }
  }
  return t.let(scale);
}

// The scale for (row, column).
template <class Problem>
constexpr val<f32> scale_of(thread t, const Problem& p, const val<u32>& row, const val<u32>& column) {
  var<i64> index(t, i64{0});
  const val flat = t.let(p[&code_problem::flat_log2]);
  if (auto by_elements = t.when(flat != 0u))
    index = (cast<i64>(row) * cast<i64>(p[&code_problem::columns]) + cast<i64>(column)) >> flat;
  if (auto by_groups = t.otherwise()) {
    const val r = divide(t, row, p[&code_problem::group_rows]).whole;
    const val c = divide(t, column, p[&code_problem::group_columns]).whole;
    index = cast<i64>(r) * p[&code_problem::scales_row] + cast<i64>(c) * p[&code_problem::scales_column];
  }
  return load_scale(t, p, t.let(index));
}

// The after_scale step and its factor. All elements share it.
struct last_step {
  val<u32> kind;
  val<f32> factor;
};
template <class Problem>
constexpr last_step load_last_step(thread t, const Problem& p) {
  const val kind = t.let(p[&code_problem::after]);
  var factor(t, p[&code_problem::constant]);
  if (auto in_memory =
          t.when(any_of(kind == u32{after_scale::times_memory}, kind == u32{after_scale::over_memory})))
    factor = pointer_at<in<f32>>(t, t.let(p[&code_problem::factor]))[0];
  return {kind, t.let(factor)};
}
// A factor in memory multiplies or divides the scale before the scale multiplies the code's number.
constexpr val<f32> with_factor(thread t, const last_step& step, const val<f32>& scale) {
  var result(t, scale);
  if (auto times = t.when(step.kind == u32{after_scale::times_memory})) result = scale * step.factor;
  if (auto over = t.when(step.kind == u32{after_scale::over_memory})) result = scale / step.factor;
  return t.let(result);
}
// A constant multiplies every element of x.
template <class Vars>
constexpr void apply(thread t, const last_step& step, Vars& x) {
  if (auto times = t.when(step.kind == u32{after_scale::times_constant}))
    for (auto& one : x) one = one * step.factor;
}

}  // namespace kaio::ops
