#pragma once
// Conversions between the types of the language. Values convert as in C++; a value that does not fit is
// rounded to the nearest even. Integers of 8 and 16 bits are kept sign- or zero-extended in 32-bit registers:
// operations on them compute in 32 bits and wrap the result (narrow).

#include <kaio/dsl/trace/numbering.hpp>

#include <cstdint>

namespace kaio::dsl {

// The low bits of a 32-bit integer as a small integer; other types are their own.
constexpr value tracer::narrow(type t, value v) {
  if (!is_small(t)) return v;
  if (is_constant(v)) return constant(t, canonical(t, bits_of(v)));
  return pure({opcode::cvt, 0, register_type(t), t, t}, v);
}

// C++'s conversion, rounded by `rounding` (rn, rz, rm, rp); floats saturate at an integer's range.
constexpr value tracer::cast(type to, type from, value a, modifier rounding) {
  const bool to_float = ptx::is_floating(to);
  const bool from_float = ptx::is_floating(from);
  if (to == from || to == type::pred || from == type::pred || (!to_float && !from_float))
    return cast(to, from, a);
  if (!to_float) return to_integer(to, from, a, integral(rounding));
  if (rounding == modifier::rn) return cast(to, from, a);
  if (to == type::bf16) return round_to_bf16(cast(type::f32, from, a, rounding), rounding);
  if (from == type::bf16) return cast(to, type::f32, from_bf16(a), rounding);
  if (from_float && ptx::size_of(to) > ptx::size_of(from)) return cast(to, from, a);
  return pure({opcode::cvt, in_order(rounding), to, register_type(from), to}, a);
}

// The nearest value of another integer type.
constexpr value tracer::cast_saturated(type to, type from, value a) {
  const bool to_signed = ptx::is_signed(to);
  const bool from_signed = ptx::is_signed(from);
  const bool larger = ptx::size_of(to) > ptx::size_of(from);
  if (to == from || (larger && (to_signed || !from_signed))) return cast(to, from, a);
  if (is_constant(a)) {
    const auto bits = static_cast<std::int64_t>(bits_of(a));
    const unsigned digits = ptx::size_of(to) * 8 - (to_signed ? 1 : 0);
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - digits);
    if (from_signed && bits < 0) {
      const auto least = to_signed ? static_cast<std::int64_t>(~most) : 0;
      return constant(to, static_cast<std::uint64_t>(bits < least ? least : bits));
    }
    return constant(to, bits_of(a) > most ? most : bits_of(a));
  }
  return pure({opcode::cvt, in_order(modifier::sat), to, register_type(from), to}, a);
}

// C++'s conversion, rounded to the nearest even; a float becomes an integer toward zero.
constexpr value tracer::cast(type to, type from, value a) {
  if (to == from) return a;
  if (to == type::pred) return not_zero(from, a);
  if (from == type::pred) return choose(to, a, one(to), constant(to, 0));
  const bool to_float = ptx::is_floating(to);
  const bool from_float = ptx::is_floating(from);
  if (!to_float && !from_float) return cast_integer(to, from, a);
  if (to == type::bf16) return to_bf16(from, a);
  if (from == type::bf16) return to == type::f32 ? from_bf16(a) : cast(to, type::f32, from_bf16(a));
  if (to_float && from_float) return cast_float(to, from, a);
  if (to == type::f32 && is_constant(a) && exact_in_f32(from, bits_of(a)))
    return constant(to, detail::bits_of_f32(static_cast<float>(static_cast<std::int64_t>(bits_of(a)))));
  if (to_float) return pure({opcode::cvt, in_order(modifier::rn), to, register_type(from), to}, a);
  return to_integer(to, from, a, modifier::rzi);
}

// The bits of a value as another type of the same width.
constexpr value tracer::reinterpret(type to, value a) {
  const type from = type_of(a);
  if (from == to) return a;
  if (is_constant(a)) return constant(to, canonical(to, bits_of(a)));
  if (from == type::b8) return reinterpret(to, copy(type::u8, a));
  if (to == type::b8) return copy(to, reinterpret(type::u8, a));
  if (is_small(to) || is_small(from)) return reinterpret_small(to, from, a);
  return moved({opcode::mov, 0, ptx::bits_of(to), type::none, to}, a);
}

constexpr tracer::halves tracer::split(value v, type half) {
  v = in_register(v);
  const key k{{opcode::mov, 0, ptx::bits_of(type_of(v)), half, half}, v, 0, 0, 0};
  if (const value known = find(k); known != 0) return {known, known + 1};
  begin(k.f.op, k.f.modifiers, k.f.t0);
  const value low = define_pack(half, 2);
  number(low, k);
  use(v);
  return {low, low + 1};
}

constexpr value tracer::join(type t, value low, value high) {
  low = in_register(low);
  high = in_register(high);
  begin(opcode::mov, 0, ptx::bits_of(t));
  const value whole = define(t);
  add({operand_kind::pack, type::none, 2, 0});
  use(low);
  use(high);
  return whole;
}

constexpr value tracer::one(type t) {
  switch (t) {
    case type::f16: return constant(t, 0x3c00u);
    case type::f16x2: return constant(t, 0x3c003c00u);
    case type::bf16: return constant(t, 0x3f80u);
    case type::bf16x2: return constant(t, 0x3f803f80u);
    case type::f32: return constant(t, 0x3f800000u);
    case type::f64: return constant(t, 0x3ff0000000000000u);
    default: return constant(t, 1);
  }
}

constexpr value tracer::choose(type t, value condition, value a, value b) {
  return pure({opcode::selp, 0, move_type(t), type::none, t}, a, b, condition);
}

// Rounds to f32 toward zero and sets the last bit if the result is inexact. A second rounding to fewer bits
// then equals a single rounding. Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
// proved algorithms using rounding to odd".
constexpr value tracer::to_odd_f32(type from, value a) {
  a = in_register(a);
  const type wide = register_type(from);
  const value down = pure({opcode::cvt, in_order(modifier::rz), type::f32, wide, type::f32}, a);
  const bool is_float = ptx::is_floating(from);
  const value back =
      pure({opcode::cvt, in_order(is_float ? modifier::none : modifier::rzi), wide, type::f32, wide}, down);
  const value lost =
      pure({opcode::setp, in_order(is_float ? modifier::neu : modifier::ne), wide, type::none, type::pred},
           back, a);
  const value bit = choose(type::u32, lost, constant(type::u32, 1), constant(type::u32, 0));
  const value bits = pure({opcode::mov, 0, type::b32, type::none, type::u32}, down);
  const value odd = pure({opcode::or_, 0, type::b32, type::none, type::u32}, bits, bit);
  return pure({opcode::mov, 0, type::b32, type::none, type::f32}, odd);
}

constexpr value tracer::not_zero(type t, value a) {
  if (t == type::bf16) return not_zero(type::f32, from_bf16(a));
  const modifier differs = ptx::is_floating(t) ? modifier::neu : modifier::ne;
  if (is_constant(a) && !ptx::is_floating(t)) return constant(type::pred, bits_of(a) != 0 ? 1 : 0);
  return pure({opcode::setp, in_order(differs), register_type(t), type::none, type::pred}, a, constant(t, 0));
}

// The modifier that rounds to an integral value in the same direction.
constexpr modifier tracer::integral(modifier rounding) {
  switch (rounding) {
    case modifier::rn: return modifier::rni;
    case modifier::rm: return modifier::rmi;
    case modifier::rp: return modifier::rpi;
    default: return modifier::rzi;
  }
}

// A small integer goes through s32, for which the manual states the result of NaN from every source.
constexpr value tracer::to_integer(type to, type from, value a, modifier rounding) {
  if (from == type::bf16) return to_integer(to, type::f32, from_bf16(a), rounding);
  if (!is_small(to)) return pure({opcode::cvt, in_order(rounding), to, from, to}, a);
  const value whole = pure({opcode::cvt, in_order(rounding), type::s32, from, type::s32}, a);
  return pure({opcode::cvt, in_order(modifier::sat), to, type::s32, to}, whole);
}

constexpr value tracer::cast_integer(type to, type from, value a) {
  if (is_constant(a)) return constant(to, canonical(to, bits_of(a)));
  const type wide_to = register_type(to);
  const type wide_from = register_type(from);
  if (is_small(to)) {
    // A narrower or equal unsigned value, and a narrower signed one in a signed type, keep their bits.
    const bool fits = ptx::size_of(from) < ptx::size_of(to) && (ptx::is_unsigned(from) || ptx::is_signed(to));
    if (fits) return copy(to, a);
    return pure({opcode::cvt, 0, wide_to, to, to}, low_word(from, a));
  }
  if (ptx::size_of(to) == 4 && ptx::size_of(from) <= 4) return copy(to, a);
  if (ptx::size_of(to) == 8 && ptx::size_of(from) == 8) return copy(to, a);
  return pure({opcode::cvt, 0, to, wide_from, to}, a);
}

constexpr value tracer::low_word(type from, value a) {
  if (ptx::size_of(from) != 8) return a;
  return pure({opcode::cvt, 0, type::u32, type::u64, type::u32}, a);
}

constexpr value tracer::copy(type to, value a) {
  return moved({opcode::mov, 0, move_type(to), type::none, to}, a);
}

// The bits of a value as another type. If that type has the same register class, the register is read as it
// is.
constexpr value tracer::moved(const form& f, value a) {
  if (is_constant(a) || ptx::class_of(f.result) != ptx::class_of(type_of(a))) return pure(f, a);
  const key k{f, a, 0, 0, 0};
  if (const value known = find(k); known != 0) return known;
  require_room(position_, operand_count_, value_count_ + 1);
  const value v = ++value_count_;
  values_[v] = {{operand_kind::reg, f.result, values_[a].source.index, 0}, 0, 0, 0, 0};
  number(v, k);
  return v;
}

constexpr value tracer::reinterpret_small(type to, type from, value a) {
  if (ptx::is_integer(to) && ptx::is_integer(from)) return cast_integer(to, from, a);
  if (is_small(to)) {  // from f16 or bf16
    const type bits = ptx::is_signed(to) ? type::s16 : type::u16;
    return pure({opcode::cvt, 0, register_type(to), bits, to}, a);
  }
  return pure({opcode::cvt, 0, type::u16, type::u32, to}, a);
}

constexpr value tracer::cast_float(type to, type from, value a) {
  if (is_constant(a) && from == type::f32 && to == type::f64)
    return pure({opcode::cvt, 0, to, from, to}, in_register(a));
  const bool narrows = ptx::size_of(to) < ptx::size_of(from);
  return pure({opcode::cvt, narrows ? in_order(modifier::rn) : 0, to, from, to}, a);
}

// bf16 is the upper half of f32.
constexpr value tracer::from_bf16(value a) {
  if (is_constant(a)) return constant(type::f32, bits_of(a) << 16);
  const value bits = pure({opcode::cvt, 0, type::u32, type::u16, type::u32}, a);
  const value up = pure({opcode::shl, 0, type::b32, type::none, type::u32}, bits, constant(type::u32, 16));
  return pure({opcode::mov, 0, type::b32, type::none, type::f32}, up);
}

constexpr value tracer::to_bf16(type from, value a) {
  if (from == type::f16) {
    a = cast(type::f32, from, a);
    from = type::f32;
  }
  if (from == type::f32) return round_to_bf16(a);
  return round_to_bf16(is_small(from) ? cast(type::f32, from, a) : to_odd_f32(from, a));
}

constexpr value tracer::round_to_bf16(value a) {
  if (target.sm >= 80)
    return pure({opcode::cvt, in_order(modifier::rn), type::bf16, type::f32, type::bf16}, a);
  // To the nearest even: adds half a unit of the last place less one, and one more if that place is odd.
  const type u = type::u32;
  const value bits = pure({opcode::mov, 0, type::b32, type::none, u}, a);
  const value place = pure({opcode::shr, 0, u, type::none, u}, bits, constant(u, 16));
  const value odd = pure({opcode::and_, 0, type::b32, type::none, u}, place, constant(u, 1));
  return upper_half(a, bits, pure({opcode::add, 0, u, type::none, u}, odd, constant(u, 0x7fff)));
}

// Rounds toward zero by dropping the lower half, or away from it if the sign is that of the direction.
constexpr value tracer::round_to_bf16(value a, modifier rounding) {
  const type u = type::u32;
  const value bits = pure({opcode::mov, 0, type::b32, type::none, u}, a);
  if (rounding == modifier::rz) return upper_half(a, bits, constant(u, 0));
  const value negative = pure({opcode::setp, in_order(modifier::lt), type::s32, type::none, type::pred}, bits,
                              constant(type::s32, 0));
  const value below = constant(u, rounding == modifier::rm ? 0xffff : 0);
  const value above = constant(u, rounding == modifier::rm ? 0 : 0xffff);
  return upper_half(a, bits, choose(u, negative, below, above));
}

// The upper half of the bits of `a`, an f32, after `more` was added to them; NaN stays NaN.
constexpr value tracer::upper_half(value a, value bits, value more) {
  const type u = type::u32;
  const value sum = pure({opcode::add, 0, u, type::none, u}, bits, more);
  const value rounded = pure({opcode::shr, 0, u, type::none, u}, sum, constant(u, 16));
  const value is_nan = pure({opcode::setp, in_order(modifier::nan), type::f32, type::none, type::pred}, a, a);
  const value kept = choose(u, is_nan, constant(u, 0x7fff), rounded);
  return pure({opcode::cvt, 0, type::u16, u, type::bf16}, kept);
}

// Integers that f32 holds exactly.
constexpr bool tracer::exact_in_f32(type from, std::uint64_t bits) {
  const auto v = static_cast<std::int64_t>(bits);
  return ptx::is_integer(from) && (from != type::u64 || v >= 0) && v <= 16777216 && v >= -16777216;
}

}  // namespace kaio::dsl
