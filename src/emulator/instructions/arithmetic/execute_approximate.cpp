// The approximate functions (.approx, .full). Each is computed in double precision and rounded once to
// single, within every error bound of the manual. Special cases follow from the definition, or are listed
// here.

#include "emulator/instructions/execute.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/program/floating.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kaio::emulator {
namespace {

f32 single(f64 value) { return static_cast<f32>(value); }

// 2^x for single-precision x: 2^n times a polynomial of the fraction. The relative error is below 2^-36
// before rounding.
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

// log2 of x >= 0 with a relative error below 2^-36: the exponent, plus a series in (m - 1) / (m + 1) for the
// significand m, which is between sqrt(1/2) and sqrt(2).
f64 binary_logarithm(f32 x) {
  const u64 bits = std::bit_cast<u64>(f64{x});  // subnormal numbers of f32 are normal here
  constexpr u64 root_of_half = 0x3fe6a09e667f3bcdull;
  const u64 above = bits - root_of_half;
  const s64 exponent = static_cast<s64>(above) >> 52;
  const f64 m = std::bit_cast<f64>((above & 0x000fffffffffffffull) + root_of_half);
  const f64 s = (m - 1.0) / (m + 1.0), z = s * s;
  f64 p = 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  p = p * z + 1.0;
  constexpr f64 twice_log2_e = 2.88539008177792681472;
  const f64 finite = static_cast<f64>(static_cast<s32>(exponent)) + p * s * twice_log2_e;
  constexpr f64 infinity = std::numeric_limits<f64>::infinity();
  const f64 at_ends = x == 0.0f ? -infinity : x > 0.0f ? infinity : std::numeric_limits<f64>::quiet_NaN();
  return x > 0.0f && x <= std::numeric_limits<f32>::max() ? finite : at_ends;
}

// x = number * pi / 2 + rest, with |rest| up to pi / 4. The number is right modulo 4.
struct reduced {
  f64 rest;
  u64 number;
};
reduced reduced_near(f32 x) {
  constexpr f64 shift = 6755399441055744.0;
  const f64 shifted = f64{x} * 0.63661977236758134308 + shift;
  const f64 q = shifted - shift;
  // pi / 2 in two parts
  return {(f64{x} - q * 1.57079632673412561417) - q * 6.07710050650619224932e-11,
          std::bit_cast<u64>(shifted)};
}
// For |x| beyond 2^20. The C library of Windows is wrong there, so this uses none. x is m * 2^e; of the bits of 2 / pi, those
// before weight 2^(1 - e) yield multiples of 4. 96 bits from there on suffice: no f32 is nearer than 2^-31 to a multiple.
reduced reduced_far(f32 x) {
  constexpr u32 bits_of_two_over_pi[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                         0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u};
  const u32 bits = std::bit_cast<u32>(x), exponent = bits >> 23 & 0xff;
  if (exponent == 0xff) return {std::numeric_limits<f64>::quiet_NaN(), 0};
  const u64 m = (bits & 0x7fffff) | 0x800000;
  const u32 first =
      exponent - 120;  // the bit of weight 2^(1 - e), e = exponent - 150; bit 32 has weight 1 / 2
  const auto word = [&](u32 at) {
    const u32* from = bits_of_two_over_pi + at / 32;
    return static_cast<u32>(((u64{from[0]} << 32 | from[1]) << (at % 32)) >> 32);
  };
  const u64 above = u64{word(first)} << 32 | word(first + 32);
  const u64 product = above * m + (word(first + 64) * m >> 32);  // modulo 4, with 62 bits of fraction
  const s64 fraction = static_cast<s64>(product << 2);
  const u64 number = (product >> 62) + (fraction < 0 ? 1 : 0);
  const f64 rest = static_cast<f64>(fraction) * (1.57079632679489661923 * 0x1p-64);
  return std::signbit(x) ? reduced{-rest, 0 - number} : reduced{rest, number};
}

// sin and cos by quadrants; the absolute error is below 2^-37.
struct quadrant {
  f64 sine, cosine;
};
quadrant quadrant_of(f64 r) {
  const f64 z = r * r;
  f64 s = -1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  s = r * (s * z + 1.0);
  f64 c = 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  c = c * z - 0.5;
  c = c * z + 1.0;
  return {s, c};
}
f64 sine_of(const reduced& x) {
  const quadrant q = quadrant_of(x.rest);
  const f64 value = (x.number & 1) != 0 ? q.cosine : q.sine;
  return (x.number & 2) != 0 ? -value : value;
}
f64 cosine_of(const reduced& x) {
  const quadrant q = quadrant_of(x.rest);
  const f64 value = (x.number & 1) != 0 ? q.sine : q.cosine;
  return ((x.number + 1) & 2) != 0 ? -value : value;
}

// tanh with a relative error below 2^-30: a series where the difference would cancel.
f64 hyperbolic_tangent(f32 x) {
  const f64 size = std::fabs(f64{x}), z = size * size;
  const f64 small = size * (1.0 - z * (1.0 / 3 - z * (2.0 / 15 - z * (17.0 / 315))));
  const f64 large = 1.0 - 2.0 / (power_of_two(std::fabs(x) * 2.8853900817779268f) + 1.0);
  return std::copysign(size < 0.0625 ? small : large, f64{x});
}

template <bool Ftz>
struct ex2 {
  static f32 apply(f32 a) { return result<Ftz, false>(single(power_of_two(operand<Ftz>(a)))); }
};
template <bool Ftz>
struct lg2 {
  static f32 apply(f32 a) { return result<Ftz, false>(single(binary_logarithm(operand<Ftz>(a)))); }
};
template <bool Ftz>
struct sine {
  static f32 apply(f32 a) { return result<Ftz, false>(single(sine_of(reduced_near(operand<Ftz>(a))))); }
};
template <bool Ftz>
struct cosine {
  static f32 apply(f32 a) { return result<Ftz, false>(single(cosine_of(reduced_near(operand<Ftz>(a))))); }
};
template <bool Ftz>
struct tangent {
  static f32 apply(f32 a) { return result<Ftz, false>(single(hyperbolic_tangent(operand<Ftz>(a)))); }
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

// The gross double-precision forms read and write only the upper 32 bits, and flush subnormal values.
f64 upper_half(f64 a) { return std::bit_cast<f64>(std::bit_cast<u64>(a) & 0xffffffff00000000ull); }
f64 gross(f64 value) { return is_nan(value) ? canonical(value) : flushed(upper_half(value)); }
f64 gross_operand(f64 a) { return is_nan(a) ? a : flushed(upper_half(a)); }
f64 gross_reciprocal(f64 a) { return gross(1.0 / gross_operand(a)); }
f64 gross_reciprocal_root(f64 a) { return gross(1.0 / std::sqrt(gross_operand(a))); }

template <template <bool> class Op>
handler fast(const instruction& i) {
  return i.flags.ftz ? each_lane<&Op<true>::apply> : each_lane<&Op<false>::apply>;
}

// sin.approx and cos.approx: all lanes the fast way, then again the lanes whose argument is too large for it.
template <template <bool> class Op, bool Ftz, f64 (*Of)(const reduced&)>
void trigonometric(warp& w, const instruction& i, u32 mask) {
  f32 source[warp_lanes];  // the destination may be the same register
  std::memcpy(source, w.file + i.from[0], sizeof source);
  each_lane<&Op<Ftz>::apply>(w, i, mask);
  u32 large = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    large |= static_cast<u32>(!(std::fabs(source[lane]) <= 0x1p20f)) << lane;
  for_lanes(large & mask, [&](unsigned lane) {
    put(w.file + i.to[0], lane, result<Ftz, false>(single(Of(reduced_far(source[lane])))));
  });
}
template <template <bool> class Op, f64 (*Of)(const reduced&)>
handler periodic(const instruction& i) {
  return i.flags.ftz ? &trigonometric<Op, true, Of> : &trigonometric<Op, false, Of>;
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
    case operation::lg2: return fast<lg2>(i);
    case operation::sin: return periodic<sine, &sine_of>(i);
    case operation::cos: return periodic<cosine, &cosine_of>(i);
    case operation::tanh: return fast<tangent>(i);
    case operation::sqrt: return fast<root>(i);
    case operation::rcp: return fast<reciprocal>(i);
    case operation::rsqrt: return fast<reciprocal_root>(i);
    case operation::div: return i.flags.full ? fast<quotient>(i) : fast<fast_quotient>(i);
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
