#pragma once
// Rounds numbers to codes of four bits, as each format's reference does.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {
// Counts the bounds below y; NaN counts none.
template <std::size_t N>
constexpr val<u32> bounds_below(thread t, const val<f32>& y, const f32 (&bounds)[N]) {
  var<u32> code(t, 0u);
  for (const f32 bound : bounds) code += select(y > bound, 1u, 0u);
  return t.let(code);
}

inline constexpr f32 nf4_bounds[15] = {-0.8480964004993439f,   -0.6106329262256622f,  -0.4599952697753906f,
                                       -0.33967943489551544f,  -0.23460740596055984f, -0.13791173323988914f,
                                       -0.045525018125772476f, 0.03979014977812767f,  0.1202552504837513f,
                                       0.2035212516784668f,    0.2920137718319893f,   0.3893125355243683f,
                                       0.5016634166240692f,    0.6427869200706482f,   0.8614784181118011f};
inline constexpr f32 fp4_bounds[7] = {0.00260417f, 0.0859375f, 0.20833333f, 0.29166667f,
                                      0.4166667f,  0.583333f,  0.8333333f};
}  // namespace detail

// y = x / absmax. Source: bitsandbytes, csrc/kernels.cu, dQuantizeNF4.
constexpr val<u32> code_of_nf4(thread t, const val<f32>& y) {
  return detail::bounds_below(t, y, detail::nf4_bounds);
}
// bitsandbytes' fp4. Sorted by value, its codes are 0, 1, 6, 7, 4, 5, 2, 3.
constexpr val<u32> code_of_fp4(thread t, const val<f32>& y) {
  const val place = detail::bounds_below(t, t.let(abs(y)), detail::fp4_bounds);
  const val code = t.let(t.let(0x32547610u) >> (place * 4u) & 7u);
  return t.let(select(y < 0.0f, code + 8u, code));
}
// E2M1: to the nearest, ties to the even code, at most 6. Zeros keep their sign; NaN gives 0 with NaN's sign.
constexpr val<u32> code_of_e2m1(thread t, const val<f32>& y) {
  const val x = t.let(abs(y));
  var<u32> code(t, 0u);
  for (const f32 bound : {0.25f, 1.25f, 2.5f, 5.0f}) code += select(x > bound, 1u, 0u);
  for (const f32 bound : {0.75f, 1.75f, 3.5f}) code += select(x >= bound, 1u, 0u);
  return t.let(code | (bit_cast<u32>(y) >> 28 & 8u));
}

}  // namespace kaio::ops
