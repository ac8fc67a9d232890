#pragma once
// Powers of two inside floating numbers: exp, log and their relatives take exponents apart and put them on.
// f64 is handled as two words of 32 bits, because integers of 64 bits cost twice.
//
//   const power_split n = split_power(e, x, {.log2_base = 1.44269502f, .least = -126, .most = 126});
//   const value y = times_power(e, w, n);   // w * 2^n, f64, without rounding

#include <kaio/dsl/math/special_unit.hpp>

#include <cstdint>

namespace kaio::dsl::detail {

// --- f32

// Splits x log2(base) into an integer n and a rest: n is in [least, most], and `scale` is 2^(n - shift).
// `bias` moves the borders between one n and the next upward.
struct power_range {
  f32 log2_base;
  int least, most;
  int shift = 0;
  f64 bias = 0;
};
struct power_split {
  value n, scale;
};

// The saturation of fma clamps: it maps x log2(base) of the whole range into [0, 1], NaN included.
// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits, where it serves as an exponent.
constexpr power_split split_power(const evaluator<f32>& e, value x, const power_range& range) {
  const f64 width = range.most - range.least;
  const value place = e.trace().pure(
      {opcode::fma, in_order(modifier::rn, modifier::sat), ptx::type::f32, ptx::type::none, ptx::type::f32},
      x, e.number(static_cast<f32>(f64{range.log2_base} / width)),
      e.number(static_cast<f32>((-range.least - range.bias) / width)));
  const f32 magic = 12582912.0f + 127.0f - static_cast<f32>(range.shift);
  const value j =
      e.fma(place, e.number(static_cast<f32>(width)), e.number(magic + static_cast<f32>(range.least)));
  return {e.sub(j, e.number(magic)), e.from_bits(e.on_bits(operation::shl, e.bits(j), e.amount(23)))};
}

// --- f64

struct words {
  value low, high;  // s32
};
constexpr words words_of(const evaluator<f64>& e, value x) {
  const tracer::halves parts = e.trace().split(x, ptx::type::s32);
  return {parts.low, parts.high};
}
constexpr value from_words(const evaluator<f64>& e, value low, value high) {
  return e.trace().join(ptx::type::f64, low, high);
}
constexpr value word(const evaluator<f64>& e, std::uint32_t bits) {
  return e.trace().constant(ptx::type::s32, canonical(ptx::type::s32, bits));
}
constexpr value on_words(const evaluator<f64>& e, operation op, value a, value b) {
  return e.trace().binary(op, ptx::type::s32, a, b);
}
// n as the exponent field of an upper word.
constexpr value exponent_field(const evaluator<f64>& e, value n) {
  return on_words(e, operation::shl, n, e.amount(20));
}

// 2^n for an s32 in [-1022, 1023].
constexpr value power_of_two(const evaluator<f64>& e, value n) {
  return from_words(e, word(e, 0), on_words(e, operation::add, exponent_field(e, n), word(e, 0x3ff00000)));
}

// w 2^n, where both w and the result are normal numbers.
constexpr value times_power(const evaluator<f64>& e, value w, value n) {
  const words parts = words_of(e, w);
  return from_words(e, parts.low, on_words(e, operation::add, parts.high, exponent_field(e, n)));
}

// w 2^n for w in [1/2, 2] and n in [-2000, 2000]. A subnormal result is rounded once.
constexpr value scale(const evaluator<f64>& e, value w, value n) {
  const value half = on_words(e, operation::shr, n, e.amount(1));
  const value rest = on_words(e, operation::sub, n, half);
  const value scaled = times_power(e, w, half);
  return e.mul(scaled, power_of_two(e, rest));
}

// An s32 as f64: the integer becomes the low word of a number whose last place is 1.
constexpr value to_f64(const evaluator<f64>& e, value n) {
  const value low = on_words(e, operation::xor_, n, word(e, 0x80000000));
  return e.sub(from_words(e, low, word(e, 0x43300000)), e.number(4503601774854144.0_f64));  // 2^52 + 2^31
}

// Whether |x| is below the number with upper word `limit` and lower word 0; false for NaN. Upper words are
// compared as f32, which orders them alike.
constexpr value is_below(const evaluator<f64>& e, value x, std::uint32_t limit) {
  const evaluator<f32> upper(e.trace());
  const value high = upper.from_bits(words_of(e, x).high);
  return compare(upper, operation::lt, magnitude(upper, high), upper.from_bits(word(e, limit)));
}

// 1 / a to about 1 ulp, for 2^-1000 < |a| < 2^1000: one cubic step from the 20 bits of the unit.
constexpr value near_reciprocal(const evaluator<f64>& e, value a) {
  const value y = unit(e, opcode::rcp, a);
  const value d = e.fma(negate(e, a), y, e.number(1.0_f64));
  return e.fma(y, e.fma(d, d, d), y);
}

}  // namespace kaio::dsl::detail
