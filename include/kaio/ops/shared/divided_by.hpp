#pragma once
// Divides many numbers by one divisor, with the bits of a division. The reciprocal and one correction take three
// instructions per number and no branch; a division takes about fifteen, one of them a branch.
//
//   const val reciprocal = t.let(1.0f / scale);
//   const val q = divided_by(t, x, scale, reciprocal);         // x / scale
//
// Source: Brisebarre, Muller and Raina, "Accelerating correctly rounded floating-point division when the divisor is known
// in advance", 2004: a correctly rounded reciprocal needs one multiplication and two fused ones.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

// Whether divided_by serves a divisor, for numbers of at most 2^60 times its size.
constexpr val<bool> has_reciprocal(thread t, const val<f32>& divisor) {
  return t.let(all_of(divisor >= 0x1p-60f, divisor <= 0x1p60f));
}
// If |x| is below 2^-40 of the divisor, the last place may be off by one.
constexpr val<f32> divided_by(thread t, const val<f32>& x, const val<f32>& divisor,
                              const val<f32>& reciprocal) {
  const val first = t.let(x * reciprocal);
  // first - x / divisor, times the divisor. With this sign a quotient of 0 keeps its own.
  const val rest = t.let(fma(first, divisor, -x));
  return t.let(fma(-rest, reciprocal, first));
}

}  // namespace kaio::ops
