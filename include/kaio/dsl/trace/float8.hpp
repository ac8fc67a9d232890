#pragma once
// Conversions of the 8-bit floats. Registers hold their 8 bits, zero-extended. sm_89 and later have
// instructions for pairs; on older architectures integers and f32 compute the same results. Conversions to
// e4m3 and e5m2 go through f32, conversions from them through f16; both hold every number of theirs.

#include <kaio/dsl/number/float8.hpp>
#include <kaio/dsl/trace/conversion.hpp>

#include <cstdint>

namespace kaio::dsl {

// A format of 8 bits, for the tracer.
struct float8_kind {
  unsigned digits;  // stored bits of the mantissa
  modifier pair;    // the name of two of them in instructions
};
inline constexpr float8_kind e4m3_kind{3, modifier::e4m3x2};
inline constexpr float8_kind e5m2_kind{2, modifier::e5m2x2};

// A number of another type as 8 bits, rounded once, with the semantics of .satfinite.
constexpr value tracer::to_float8(const float8_kind& kind, type from, value a) {
  const value x = before_float8(from, a);
  if (is_constant(x)) return constant(type::b8, folded_float8(kind, bits_of(x)));
  if (target.sm < 89) return computed_float8(kind, x);
  return byte_of(float8_pair(kind, x, constant(type::f32, 0)));
}

// The value of 8 bits, exactly, in f32 or f16.
constexpr value tracer::from_float8(const float8_kind& kind, type to, value a) {
  if (is_constant(a)) {
    const auto code = static_cast<std::uint8_t>(bits_of(a));
    const float x = kind.digits == 3 ? detail::float8_to_float<3>(code) : detail::float8_to_float<2>(code);
    return cast(to, type::f32, constant(type::f32, detail::bits_of_f32(x)));
  }
  if (target.sm < 89) return computed_number(kind, to, a);
  const value pair = halves_of_pair(kind, pure({opcode::cvt, 0, type::u16, type::u32, type::b16}, a));
  return cast(to, type::f16, pure({opcode::cvt, 0, type::u16, type::u32, type::f16}, pair));
}

// Two f32 as 16 bits, the first in the lower byte.
constexpr value tracer::to_float8_pair(const float8_kind& kind, type from, value low, value high) {
  const value x = before_float8(from, low);
  const value y = before_float8(from, high);
  if (target.sm >= 89) return float8_pair(kind, x, y);
  const value low_byte = to_float8(kind, type::f32, x);
  return pair_of_bytes(low_byte, to_float8(kind, type::f32, y));
}

// 16 bits as two f16.
constexpr value tracer::from_float8_pair(const float8_kind& kind, value pair) {
  if (target.sm >= 89) return halves_of_pair(kind, pair);
  const value word = pure({opcode::cvt, 0, type::u32, type::u16, type::u32}, pair);
  const value low = computed_number(kind, type::f16, byte_at(word, 0));
  return join(type::f16x2, low, computed_number(kind, type::f16, byte_at(word, 8)));
}

// The two bytes of 16 bits, as values.
constexpr tracer::halves tracer::bytes_of_pair(value pair) {
  const value word = pure({opcode::cvt, 0, type::u32, type::u16, type::u32}, pair);
  return {byte_at(word, 0), byte_at(word, 8)};
}

// Two bytes as 16 bits. If both are adjacent bytes of one word, that half of the word.
constexpr value tracer::pair_of_bytes(value low, value high) {
  unsigned at = 0;
  const value word = common_word(low, high, at);
  if (word != 0 && at == 0) return pure({opcode::cvt, 0, type::u16, type::u32, type::b16}, word);
  if (word != 0 && at == 16) return split(word, type::b16).high;
  const value both =
      pure({opcode::prmt, 0, type::b32, type::none, type::u32}, low, high, constant(type::u32, 0x4440));
  return pure({opcode::cvt, 0, type::u16, type::u32, type::b16}, both);
}

// The word with the adjacent bytes `low`, at bit `at`, and `high`; 0 if there is none.
constexpr value tracer::common_word(value low, value high, unsigned& at) const {
  const value word = taken_from(low, at);
  unsigned above = 0;
  return word != 0 && taken_from(high, above) == word && above == at + 8 ? word : 0;
}

// An f32 that rounds to 8 bits as the value does.
constexpr value tracer::before_float8(type from, value a) {
  switch (from) {
    case type::f64:
    case type::s32:
    case type::u32:
    case type::s64:
    case type::u64:
      return is_constant(a) && from != type::f64 ? cast(type::f32, from, a) : to_odd_f32(from, a);
    default: return cast(type::f32, from, a);
  }
}

constexpr std::uint64_t tracer::folded_float8(const float8_kind& kind, std::uint64_t bits) {
  const double x = static_cast<double>(detail::f32_of_bits(bits));
  return kind.digits == 3 ? detail::round_to_float8<3>(x) : detail::round_to_float8<2>(x);
}

// cvt takes the upper half as its first source.
constexpr value tracer::float8_pair(const float8_kind& kind, value low, value high) {
  const value upper = in_register(high);
  return pure(
      {opcode::cvt, in_order(modifier::rn, modifier::satfinite, kind.pair), type::f32, type::none, type::b16},
      upper, in_register(low));
}

constexpr value tracer::halves_of_pair(const float8_kind& kind, value pair) {
  return pure(
      {opcode::cvt, in_order(modifier::rn, modifier::f16x2, kind.pair), type::none, type::none, type::f16x2},
      pair);
}

constexpr value tracer::byte_of(value pair) {
  return pure({opcode::cvt, 0, type::u32, type::u16, type::b8}, pair);
}

constexpr value tracer::byte_at(value word, unsigned bit) {
  return pure({opcode::bfe, 0, type::u32, type::none, type::b8}, word, constant(type::u32, bit),
              constant(type::u32, 8));
}

constexpr value tracer::taken_from(value byte, unsigned& at) const {
  if (is_constant(byte)) return 0;
  const key made = made_of(byte);
  if (made.f.op != opcode::bfe || !is_constant(made.b) || !is_constant(made.c) || bits_of(made.c) != 8)
    return 0;
  at = static_cast<unsigned>(bits_of(made.b));
  return made.a;
}

// --- without the instructions
// The bits of an f32 whose mantissa is rounded to its upper `digits`, ties to even, are the code, except for
// the bias. Below the least normal number, a sum whose last place is the least number does the rounding.
constexpr value tracer::computed_float8(const float8_kind& kind, value x) {
  const type u = type::u32;
  const bool wide = kind.digits == 2;
  const unsigned dropped = 23 - kind.digits;
  const value bits = pure({opcode::mov, 0, type::b32, type::none, u}, x);
  const value magnitude = pure({opcode::and_, 0, type::b32, type::none, u}, bits, constant(u, 0x7fffffff));
  const value clamped = pure({opcode::min, 0, u, type::none, u}, magnitude,
                             constant(u, wide ? 0x47600000 : 0x43e00000));  // 57344, 448
  const value place = bit_at(clamped, dropped);
  const value up = pure({opcode::add, 0, u, type::none, u}, clamped, place);
  const value sum =
      pure({opcode::add, 0, u, type::none, u}, up, constant(u, (std::uint64_t{1} << (dropped - 1)) - 1));
  const value rounded = pure({opcode::shr, 0, u, type::none, u}, sum, constant(u, dropped));
  const value normal = pure({opcode::add, 0, u, type::none, u}, rounded,
                            constant(u, canonical(u, std::uint64_t{0} - (wide ? 448u : 960u))));
  const std::uint64_t magic = wide ? 0x43000000 : 0x46800000;  // 2^7, 2^14: 23 places above the least number
  const value little =
      pure({opcode::add, in_order(modifier::rn), type::f32, type::none, type::f32},
           pure({opcode::mov, 0, type::b32, type::none, type::f32}, clamped), constant(type::f32, magic));
  const value counted =
      pure({opcode::add, 0, u, type::none, u}, pure({opcode::mov, 0, type::b32, type::none, u}, little),
           constant(u, canonical(u, std::uint64_t{0} - magic)));
  const value is_small = pure({opcode::setp, in_order(modifier::lt), u, type::none, type::pred}, clamped,
                              constant(u, wide ? 0x38800000 : 0x3c800000));  // 2^-14, 2^-6
  const value code = choose(u, is_small, counted, normal);
  const value sign = pure({opcode::and_, 0, type::b32, type::none, u},
                          pure({opcode::shr, 0, u, type::none, u}, bits, constant(u, 24)), constant(u, 0x80));
  const value is_nan = pure({opcode::setp, in_order(modifier::gt), u, type::none, type::pred}, magnitude,
                            constant(u, 0x7f800000));
  return choose(type::b8, is_nan, constant(u, 0x7f),
                pure({opcode::or_, 0, type::b32, type::none, u}, code, sign));
}

// The bit at `place` alone, as 0 or 1.
constexpr value tracer::bit_at(value bits, unsigned place) {
  const type u = type::u32;
  return pure({opcode::and_, 0, type::b32, type::none, u},
              pure({opcode::shr, 0, u, type::none, u}, bits, constant(u, place)), constant(u, 1));
}

// e5m2 is the upper half of an f16. The value of e4m3 is its magnitude in the exponent and mantissa of an
// f32, scaled by the difference of the biases.
constexpr value tracer::computed_number(const float8_kind& kind, type to, value a) {
  const type u = type::u32;
  if (kind.digits == 2) {
    const value up = pure({opcode::shl, 0, type::b32, type::none, u}, a, constant(u, 8));
    const value half = pure({opcode::cvt, 0, type::u16, u, type::f16}, up);
    if (to == type::f32) return cast(to, type::f16, half);
    // This makes a NaN the canonical one.
    return cast(to, type::f32, cast(type::f32, type::f16, half));
  }
  const value code = pure({opcode::and_, 0, type::b32, type::none, u}, a, constant(u, 0x7f));
  const value placed = pure({opcode::shl, 0, type::b32, type::none, u}, code, constant(u, 20));
  const value scaled = pure({opcode::mul, in_order(modifier::rn), type::f32, type::none, type::f32},
                            pure({opcode::mov, 0, type::b32, type::none, type::f32}, placed),
                            constant(type::f32, 0x7b800000));  // 2^120
  const value is_nan =
      pure({opcode::setp, in_order(modifier::eq), u, type::none, type::pred}, code, constant(u, 0x7f));
  const value magnitude =
      choose(u, is_nan, constant(u, 0x7fffffff), pure({opcode::mov, 0, type::b32, type::none, u}, scaled));
  const value sign =
      pure({opcode::and_, 0, type::b32, type::none, u},
           pure({opcode::shl, 0, type::b32, type::none, u}, a, constant(u, 24)), constant(u, 0x80000000));
  const value signed_bits =
      choose(u, is_nan, magnitude, pure({opcode::or_, 0, type::b32, type::none, u}, magnitude, sign));
  const value single = pure({opcode::mov, 0, type::b32, type::none, type::f32}, signed_bits);
  return cast(to, type::f32, single);
}

}  // namespace kaio::dsl
