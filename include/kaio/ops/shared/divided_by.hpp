#pragma once
// Divides many numbers by one divisor, with the bits of a division. The reciprocal and two corrections take
// six instructions per number and no branch; a division takes about fifteen, one of them a branch.
//
//   const val reciprocal = t.let(1.0f / scale);
//   const val q = divided_by(t, x, scale, reciprocal);         // x / scale
//
// Source: Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990.

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
  const val rest = t.let(fma(-first, divisor, x));
  const val second = t.let(fma(rest, reciprocal, first));
  const val last = t.let(fma(-second, divisor, x));
  const val third = t.let(fma(last, reciprocal, second));
  return t.let(copysign(third, x));  // a zero has lost its sign
}

}  // namespace kaio::ops
