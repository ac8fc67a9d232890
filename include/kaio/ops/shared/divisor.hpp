#pragma once
// Divides by a number that the host knows at launch and the compiler does not, without a division instruction.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

// Division by a number that the host knows at launch: n / value = n * multiplier >> shift, for n below 2^31.
// Source: Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994.
struct divisor {
  u32 value, multiplier, shift;
  static constexpr divisor of(u32 d) {
    u32 shift = 31;  // plus the bits of d - 1
    for (u32 rest = d - 1; rest != 0; rest >>= 1) ++shift;
    return {d, static_cast<u32>(((u64{1} << shift) + d - 1) / d), shift};
  }
};

struct quotient {
  val<u32> whole, rest;
};

// n / d and n % d.
template <class D>
constexpr quotient divide(thread t, const val<u32>& n, const D& d) {
  const val whole =
      t.let(cast<u32>(mul_wide(n, t.let(d[&divisor::multiplier])) >> t.let(d[&divisor::shift])));
  return {whole, t.let(n - whole * d[&divisor::value])};
}

}  // namespace kaio::ops
