#pragma once
// Reduces x to its distance from the nearest multiple of pi/2, for sin, cos and tan. Up to a bound, the
// multiple is subtracted in three parts, each product exact in an fma (Cody and Waite, "Software Manual for
// the Elementary Functions"). Beyond it, few threads branch and multiply x, in integers, by the bits of 2/pi
// that matter modulo 4 (Payne and Hanek, "Radian reduction for trigonometric functions").
//
//   const quadrant_angle a = reduce(e, magnitude(e, x));   // |x| = a.quadrant * pi/2 + a.rest

#include <kaio/dsl/math/rare_path.hpp>
#include <kaio/dsl/math/special_unit.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace kaio::dsl::detail {

struct quadrant_angle {
  value rest;      // at most pi/4 in magnitude, and a little
  value quadrant;  // s32, modulo 4
};

// The integers of the long multiplication: words of the float's own width.
template <host_floating T>
struct long_words;
template <>
struct long_words<f32> {
  static constexpr ptx::type word = ptx::type::u32;
  static constexpr unsigned width = 32, mantissa_bits = 23, exponent_bias = 127;
  static constexpr std::size_t steps = 2;  // the window starts in word 0 to 3
};
template <>
struct long_words<f64> {
  static constexpr ptx::type word = ptx::type::u64;
  static constexpr unsigned width = 64, mantissa_bits = 52, exponent_bias = 1023;
  static constexpr std::size_t steps = 4;  // 0 to 15
};

// 2/pi, and before it one word of zeros.
template <host_floating T>
constexpr std::uint64_t two_over_pi(std::size_t word) {
  constexpr std::uint64_t bits[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
      0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
      0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
  if (word == 0) return 0;
  if constexpr (std::is_same_v<T, f64>) return bits[word - 1];
  return bits[(word - 1) / 2] >> (word % 2 == 1 ? 32 : 0) & 0xffffffffu;
}

// The upper two words of a product modulo 4: the quadrant in the top two bits, and the fraction.
struct long_fraction {
  value high, low;
};

// x * 2/pi modulo 4 for x = m * 2^(E - width + 1), m a whole word whose top bit is set.
template <host_floating T>
constexpr long_fraction times_two_over_pi(tracer& t, value m, value power) {
  using layout = long_words<T>;
  constexpr ptx::type word = layout::word;
  const auto number = [&](std::uint64_t n) { return t.constant(word, n); };
  const auto amount = [&](std::uint32_t n) { return t.constant(ptx::type::u32, n); };
  // Table bits of 2/pi before place E - 1 give multiples of 4. The words move down by powers of two.
  const value place = t.binary(operation::sub, ptx::type::u32, power, amount(1));
  constexpr std::size_t kept = 4;
  value row[kept + (1u << layout::steps)] = {};
  for (std::size_t i = 0; i + 1 < kept + (1u << layout::steps); ++i) row[i] = number(two_over_pi<T>(i));
  for (std::size_t step = layout::steps; step-- != 0;) {
    const std::uint32_t bit = layout::width << step;
    const value moves = t.compare(operation::ne, ptx::type::u32,
                                  t.binary(operation::and_, ptx::type::u32, place, amount(bit)), amount(0));
    for (std::size_t i = 0; i + 1 < kept + (std::size_t{1} << step); ++i)
      row[i] = t.select(word, moves, row[i + (std::size_t{1} << step)], row[i]);
  }
  const value left = t.binary(operation::and_, ptx::type::u32, place, amount(layout::width - 1));
  const value right = t.binary(operation::sub, ptx::type::u32, amount(layout::width), left);
  value window[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const value upper = t.binary(operation::shl, word, row[i], left);
    window[i] = t.binary(operation::or_, word, upper, t.binary(operation::shr, word, row[i + 1], right));
  }
  const auto high = [&](value a) {
    return t.pure({opcode::mul, in_order(modifier::hi), word, ptx::type::none, word}, m, a);
  };
  const value middle = t.binary(operation::mul, word, m, window[1]);
  const value low = t.binary(operation::add, word, middle, high(window[2]));
  const value carry = t.cast(word, ptx::type::pred, t.compare(operation::lt, word, low, middle));
  const value top = t.multiply_add(word, m, window[0], high(window[1]));
  return {t.binary(operation::add, word, top, carry), low};
}

// The fraction as an angle. The quadrant is rounded to the nearest, so half of the rests are negative.
constexpr value angle(const evaluator<f32>& e, const long_fraction& p, value& quadrant) {
  tracer& t = e.trace();
  const auto extended = [&](value v) { return t.cast(ptx::type::u64, ptx::type::u32, v); };
  const value upper = t.binary(operation::shl, ptx::type::u64, extended(p.high), e.amount(32));
  const value whole = t.binary(operation::or_, ptx::type::u64, upper, extended(p.low));
  const value up =
      t.binary(operation::add, ptx::type::u64, whole, t.constant(ptx::type::u64, std::uint64_t{1} << 61));
  quadrant =
      t.cast(ptx::type::s32, ptx::type::u64, t.binary(operation::shr, ptx::type::u64, up, e.amount(62)));
  const value rest = t.binary(operation::shl, ptx::type::u64, whole, e.amount(2));
  const value number = t.cast(ptx::type::f64, ptx::type::s64, t.reinterpret(ptx::type::s64, rest));
  return t.cast(ptx::type::f32, ptx::type::f64,
                t.binary(operation::mul, ptx::type::f64, number,
                         evaluator<f64>(t).number(8.5153039502163860e-20_f64)));  // pi/2 * 2^-64
}

constexpr value angle(const evaluator<f64>& e, const long_fraction& p, value& quadrant) {
  tracer& t = e.trace();
  constexpr ptx::type u = ptx::type::u64;
  const value up = t.binary(operation::add, u, p.high, t.constant(u, std::uint64_t{1} << 61));
  quadrant = t.cast(ptx::type::s32, u, t.binary(operation::shr, u, up, e.amount(62)));
  const value upper = t.binary(operation::shl, u, p.high, e.amount(2));
  const value top = t.binary(operation::or_, u, upper, t.binary(operation::shr, u, p.low, e.amount(62)));
  const value bottom = t.binary(operation::shl, u, p.low, e.amount(2));
  // Two numbers of 52 and 64 bits, the first exact.
  const value kept = t.binary(operation::and_, u, top, t.constant(u, ~std::uint64_t{0xfff}));
  const value rest_of_top = t.binary(operation::shl, u, top, e.amount(52));
  const value others =
      t.binary(operation::or_, u, rest_of_top, t.binary(operation::shr, u, bottom, e.amount(12)));
  const value first = t.cast(e.type, ptx::type::s64, t.reinterpret(ptx::type::s64, kept));
  const value second = e.mul(t.cast(e.type, u, others), e.number(2.220446049250313e-16_f64));  // 2^-52
  const value sum = e.add(first, second);
  const value rest = e.sub(second, e.sub(sum, first));
  // times pi/2 * 2^-64
  const value high = e.number(8.515303950216386e-20_f64);
  const value product = e.mul(sum, high);
  value tail = e.fma(sum, high, negate(e, product));
  tail = e.fma(sum, e.number(3.3194102948519793e-36_f64), tail);
  return e.add(product, e.fma(rest, high, tail));
}

// |x| beyond the bound; infinities and NaN give NaN.
template <host_floating T>
constexpr std::array<value, 2> reduce_huge(const evaluator<T>& e, value x) {
  using layout = long_words<T>;
  tracer& t = e.trace();
  constexpr ptx::type word = layout::word;
  const value bits = t.reinterpret(word, x);
  const value exponent = t.binary(operation::shr, word, bits, e.amount(layout::mantissa_bits));
  const value power = t.binary(operation::sub, ptx::type::u32, t.cast(ptx::type::u32, word, exponent),
                               e.amount(layout::exponent_bias));
  const value mantissa =
      t.binary(operation::or_, word,
               t.binary(operation::shl, word, bits, e.amount(layout::width - layout::mantissa_bits - 1)),
               t.constant(word, std::uint64_t{1} << (layout::width - 1)));
  value quadrant = 0;
  const value rest = angle(e, times_two_over_pi<T>(t, mantissa, power), quadrant);
  return {e.fma(x, e.number(T{0}), rest), quadrant};
}

// For x >= 0, and NaN.
constexpr quadrant_angle reduce(const evaluator<f32>& e, value x) {
  const value magic = e.number(12582912.0f);  // 1.5 * 2^23
  const value j = e.fma(x, e.number(0.636619747f), magic);
  const value n = e.sub(j, magic);
  value r = e.fma(n, e.number(-1.570796371f), x);
  r = e.fma(n, e.number(4.371138829e-8f), r);
  r = e.fma(n, e.number(1.71512451e-15f), r);
  const value is_huge = compare(e, operation::gt, x, 105615.0f);
  const auto found = rare(e.trace(), is_huge, std::array{r, e.bits(j)}, [&] { return reduce_huge(e, x); });
  return {found[0], found[1]};
}

constexpr quadrant_angle reduce(const evaluator<f64>& e, value x) {
  const value magic = e.number(6755399441055744.0_f64);  // 1.5 * 2^52
  const value j = e.fma(x, e.number(0.6366197723675814_f64), magic);
  const value n = e.sub(j, magic);
  value r = e.fma(n, e.number(-1.5707963267948966_f64), x);
  r = e.fma(n, e.number(-6.123233995736766e-17_f64), r);
  r = e.fma(n, e.number(1.4973849048591698e-33_f64), r);
  const value quadrant = e.trace().cast(ptx::type::s32, e.bits_type, e.bits(j));
  const auto found = rare(e.trace(), compare(e, operation::gt, x, 2147483648.0_f64), std::array{r, quadrant},
                          [&] { return reduce_huge(e, x); });
  return {found[0], found[1]};
}

}  // namespace kaio::dsl::detail
