// The approximate functions (.approx, .full). Each is computed in double precision and rounded once to
// single, which is inside every bound that the manual states; its special cases follow from the definition,
// or stand here.

#include "runtime/emulator/execute.hpp"
#include "runtime/emulator/floating.hpp"
#include "runtime/emulator/lanes.hpp"

#include <cmath>
#include <limits>

namespace kaio::runtime::emulator {
namespace {

f32 single(f64 value) { return static_cast<f32>(value); }

// 2^x for single precision x: 2^n times a polynomial of the fraction, relative error below 2^-36 before
// rounding.
f64 power_of_two(f32 x) {
  if (is_nan(x)) return std::numeric_limits<f64>::quiet_NaN();
  const f64 bounded = x > 200.0f    ? 200.0
                      : x < -200.0f ? -200.0
                                    : static_cast<f64>(x);  // beyond both ends of f32
  constexpr f64 shift =
      6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer, kept in the low bits
  const f64 shifted = bounded + shift;
  const f64 t = (bounded - (shifted - shift)) * 0.69314718055994530942;
  f64 p = 1.0 / 3628800;
  p = p * t + 1.0 / 362880;
  p = p * t + 1.0 / 40320;
  p = p * t + 1.0 / 5040;
  p = p * t + 1.0 / 720;
  p = p * t + 1.0 / 120;
  p = p * t + 1.0 / 24;
  p = p * t + 1.0 / 6;
  p = p * t + 0.5;
  p = p * t + 1.0;
  p = p * t + 1.0;
  const u64 exponent = (std::bit_cast<u64>(shifted) + 1023) << 52;
  return p * std::bit_cast<f64>(exponent);
}

template <bool Ftz>
struct ex2 {
  static f32 apply(f32 a) { return result<Ftz, false>(single(power_of_two(operand<Ftz>(a)))); }
};
template <bool Ftz>
struct lg2 {
  static f32 apply(f32 a) { return result<Ftz, false>(single(std::log2(f64{operand<Ftz>(a)}))); }
};
template <bool Ftz>
struct sine {
  static f32 apply(f32 a) { return result<Ftz, false>(single(std::sin(f64{operand<Ftz>(a)}))); }
};
template <bool Ftz>
struct cosine {
  static f32 apply(f32 a) { return result<Ftz, false>(single(std::cos(f64{operand<Ftz>(a)}))); }
};
template <bool Ftz>
struct tangent {
  static f32 apply(f32 a) { return result<Ftz, false>(single(std::tanh(f64{operand<Ftz>(a)}))); }
};
template <bool Ftz>
struct root {
  static f32 apply(f32 a) { return result<Ftz, false>(single(std::sqrt(f64{operand<Ftz>(a)}))); }
};
template <bool Ftz>
struct reciprocal {
  static f32 apply(f32 a) { return result<Ftz, false>(single(1.0 / f64{operand<Ftz>(a)})); }
};
template <bool Ftz>
struct reciprocal_root {
  static f32 apply(f32 a) { return result<Ftz, false>(single(1.0 / std::sqrt(f64{operand<Ftz>(a)}))); }
};
template <bool Ftz>
struct quotient {
  static f32 apply(f32 a, f32 b) {
    return result<Ftz, false>(single(f64{operand<Ftz>(a)} / f64{operand<Ftz>(b)}));
  }
};

// div.approx multiplies by the reciprocal, which is zero for divisors beyond 2^126.
template <bool Ftz>
struct fast_quotient {
  static f32 apply(f32 x, f32 y) {
    const f32 a = operand<Ftz>(x), b = operand<Ftz>(y);
    const f32 size = std::fabs(b);
    if (size > 0x1p126f && size <= std::numeric_limits<f32>::max())
      return canonical(a * std::copysign(0.0f, b));
    return quotient<Ftz>::apply(a, b);
  }
};

f64 double_reciprocal_root(f64 a) { return canonical(1.0 / std::sqrt(a)); }

// The gross double-precision forms see and give the upper 32 bits only, and flush subnormal values.
f64 upper_half(f64 a) { return std::bit_cast<f64>(std::bit_cast<u64>(a) & 0xffffffff00000000ull); }
f64 gross(f64 value) { return is_nan(value) ? canonical(value) : flushed(upper_half(value)); }
f64 gross_operand(f64 a) { return is_nan(a) ? a : flushed(upper_half(a)); }
f64 gross_reciprocal(f64 a) { return gross(1.0 / gross_operand(a)); }
f64 gross_reciprocal_root(f64 a) { return gross(1.0 / std::sqrt(gross_operand(a))); }

template <template <bool> class Op>
handler fast(const instruction& i) {
  return i.flags.ftz ? each_lane<&Op<true>::apply> : each_lane<&Op<false>::apply>;
}

template <template <bool> class Op>
handler slow(const instruction& i) {
  return i.flags.ftz ? each_active_lane<&Op<true>::apply> : each_active_lane<&Op<false>::apply>;
}

}  // namespace

handler approximate_handler(const instruction& i) {
  if (!i.flags.approx && !i.flags.full) return nullptr;
  if (i.type == ptx::type::f64) {
    switch (i.op) {
      case operation::rcp: return each_lane<&gross_reciprocal>;
      case operation::rsqrt:
        return i.flags.ftz ? each_lane<&gross_reciprocal_root> : each_lane<&double_reciprocal_root>;
      default: return nullptr;
    }
  }
  if (i.type != ptx::type::f32) return nullptr;
  switch (i.op) {
    case operation::ex2: return fast<ex2>(i);
    case operation::lg2: return slow<lg2>(i);
    case operation::sin: return slow<sine>(i);
    case operation::cos: return slow<cosine>(i);
    case operation::tanh: return slow<tangent>(i);
    case operation::sqrt: return fast<root>(i);
    case operation::rcp: return fast<reciprocal>(i);
    case operation::rsqrt: return fast<reciprocal_root>(i);
    case operation::div: return i.flags.full ? fast<quotient>(i) : fast<fast_quotient>(i);
    default: return nullptr;
  }
}

}  // namespace kaio::runtime::emulator
