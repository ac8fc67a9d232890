#pragma once
// Quantises to e4m3 with a scale, in kernels whose last step quantises. The scale is max |x| / 448; 448 is
// the greatest e4m3.
//
//   const val scale = e4m3_scale(t, largest);                  // largest: max |x|
//   codes[i] = e4m3_code(t, x, scale);

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

// largest / 448, or 1 if all numbers are 0.
constexpr val<f32> e4m3_scale(thread t, const val<f32>& largest) {
  const val scale = t.let(largest / 448.0f);
  return t.let(select(scale == 0.0f, 1.0f, scale));
}

// x / scale, rounded once to the nearest even, at most 448; NaN stays NaN. e4m3_code_of takes the quotient.
constexpr val<e4m3> e4m3_code_of(thread t, const val<f32>& quotient) { return t.let(cast<e4m3>(quotient)); }
// e4m3_code_of each of four quotients from `first` on; the first has the lowest byte.
template <class Quotients>
constexpr val<u32> e4m3_codes_of(thread t, const Quotients& quotients, u32 first) {
  const val low = t.let(dsl::pack<e4m3>(quotients[first], quotients[first + 1])),
            high = t.let(dsl::pack<e4m3>(quotients[first + 2], quotients[first + 3]));
  return t.let(cast<u32>(low) | cast<u32>(high) << 16);
}
constexpr val<e4m3> e4m3_code(thread t, const val<f32>& x, const val<f32>& scale) {
  return e4m3_code_of(t, t.let(x / scale));
}

}  // namespace kaio::ops
