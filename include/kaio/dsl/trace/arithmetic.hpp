#pragma once
// Arithmetic: the operations of the language on values. Constants fold and become the right operand.
// Operations with a constant are simplified (x * 8 is a shift, x / 7 a multiplication). Instructions that an
// architecture lacks are replaced by others with the same result.

#include <kaio/dsl/trace/division.hpp>
#include <kaio/dsl/trace/float8.hpp>

#include <cstdint>

namespace kaio::dsl {

// Whether the architecture has a fused multiply-add of type t.
constexpr bool tracer::fuses(type t) const { return ptx::element_of(t) != type::bf16 || target.sm >= 80; }

constexpr bool tracer::contracts(type t) const { return contract && fuses(t); }

constexpr value tracer::unary(operation op, type t, value a) {
  if (is_constant(a))
    if (const folded f = fold(op, t, bits_of(a), 0); f.known) return constant(t, f.bits);
  if (ptx::element_of(t) == type::bf16 && target.sm < 80) return bf16_sign(op, t, a);
  if (op == operation::sqrt && ptx::is_half(t)) return by_f32(op, t, a, 0);
  const type r = register_type(t);
  switch (op) {
    case operation::not_:
      return narrow(t, pure({opcode::not_, 0, move_type(t), type::none, register_type(t)}, a));
    case operation::neg:
      return narrow(t, pure({opcode::neg, 0, signed_form(r), type::none, register_type(t)}, a));
    case operation::abs: return narrow(t, pure({opcode::abs, 0, r, type::none, register_type(t)}, a));
    default: return pure({opcode::sqrt, in_order(modifier::rn), t, type::none, t}, a);
  }
}

// The instruction of an operation with two operands. is_bitwise: it is written with the class of its
// registers. wraps: its result may leave an integer of 8 or 16 bits.
struct binary_instruction {
  opcode op;
  modifier_list of_integers;
  modifier_list of_floats;
  bool is_bitwise;
  bool wraps;
};
namespace detail {
inline constexpr binary_instruction binary_table[] = {
    {opcode::add, 0, in_order(modifier::rn), false, true},
    {opcode::sub, 0, in_order(modifier::rn), false, true},
    {opcode::mul, in_order(modifier::lo), in_order(modifier::rn), false, true},
    {opcode::div, 0, in_order(modifier::rn), false, true},
    {opcode::rem, 0, 0, false, false},
    {opcode::min, 0, 0, false, false},
    {opcode::max, 0, 0, false, false},
    {opcode::and_, 0, 0, true, false},
    {opcode::or_, 0, 0, true, false},
    {opcode::xor_, 0, 0, true, false},
    {opcode::shl, 0, 0, true, true},
    {opcode::shr, 0, 0, false, false},
};
static_assert(sizeof(binary_table) / sizeof(binary_instruction) == static_cast<unsigned>(operation::shr) + 1,
              "kaio: each operation with two operands needs its row, in the order of the enum");
}  // namespace detail

constexpr value tracer::binary(operation op, type t, value a, value b) {
  if (((a | b) & constant_flag) != 0) {
    if (is_constant(a)) {
      if (is_constant(b))
        if (const folded f = fold(op, t, bits_of(a), bits_of(b)); f.known) return constant(t, f.bits);
      if (commutes(op)) {  // a constant is the right operand
        const value left = a;
        a = b;
        b = left;
      }
    }
    if (is_constant(b))
      if (const value simple = simplified(op, t, a, b); simple != 0) return simple;
  }
  const bool is_float = t >= type::f16;
  if (is_float) {
    if (ptx::is_half(t)) return half(op, t, a, b);
    if (op == operation::div && is_constant(a) && bits_of(a) == bits_of(one(t)))
      return pure({opcode::rcp, in_order(modifier::rn), t, type::none, t}, b);
  } else if (op == operation::sub) {
    if (is_constant(b))
      return binary(operation::add, t, a, constant(t, canonical(t, std::uint64_t{0} - bits_of(b))));
  } else if (op == operation::mul) {
    if (const value wide = wide_product(t, a, b); wide != 0) return wide;
  }
  const binary_instruction how = detail::binary_table[static_cast<unsigned>(op)];
  const instruction_types types = detail::instruction_type_table[static_cast<unsigned>(t)];
  const value v =
      pure({how.op, is_float ? how.of_floats : how.of_integers, how.is_bitwise ? types.move : types.compute,
            type::none, how.wraps ? types.compute : t},
           a, b);
  return how.wraps && types.compute != t ? narrow(t, v) : v;
}

// eq to ge on operands of type t. NaN as in C++: every comparison is false, except !=, which is true.
constexpr value tracer::compare(operation op, type t, value a, value b) {
  if (t == type::pred) {
    const value differ = binary(operation::xor_, t, a, b);
    return op == operation::ne ? differ : unary(operation::not_, t, differ);
  }
  if (is_constant(a) && is_constant(b))
    if (const folded f = fold(op, t, bits_of(a), bits_of(b)); f.known) return constant(type::pred, f.bits);
  if (t == type::bf16) {
    a = cast(type::f32, t, a);
    b = cast(type::f32, t, b);
    t = type::f32;
  }
  return pure({opcode::setp, in_order(comparison(op, t)), register_type(t), type::none, type::pred}, a, b);
}

constexpr value tracer::select(type t, value condition, value a, value b) {
  if (is_constant(condition)) return bits_of(condition) != 0 ? a : b;
  if (a == b) return a;
  if (t == type::pred) {
    const value first = binary(operation::and_, t, condition, a);
    const value second = binary(operation::and_, t, unary(operation::not_, t, condition), b);
    return binary(operation::or_, t, first, second);
  }
  return choose(t, condition, a, b);
}

// a * b + c with one rounding (floats), or modulo 2^n (integers).
constexpr value tracer::contracted(type t, value a, value b, value c) {
  if (!contracts(t))
    kernel_error(
        "kaio: the compiler has evaluated this kernel wrongly (seen with g++ 12, in files of many kernels); put fewer kernels into the file, or compile it with --param=ggc-min-heapsize=8000000");
  return multiply_add(t, a, b, c);
}

constexpr value tracer::multiply_add(type t, value a, value b, value c) {
  if (ptx::is_floating(t)) {
    if (!fuses(t))
      fail(
          "kaio: fma on bf16 needs sm_80; write kernel_options{.target = {80}}, or a * b + c for two roundings");
    return pure({opcode::fma, in_order(modifier::rn), t, type::none, t}, a, b, c);
  }
  if (is_constant(a)) {
    const value left = a;
    a = b;
    b = left;
  }
  if (const value wide = wide_product(t, a, b); wide != 0) return binary(operation::add, t, wide, c);
  if (is_constant(a) || (is_constant(c) && bits_of(c) == 0) || power_of_two(t, b) != not_a_power)
    return binary(operation::add, t, binary(operation::mul, t, a, b), c);
  return narrow(t, pure({opcode::mad, in_order(modifier::lo), register_type(t), type::none, register_type(t)},
                        a, b, c));
}

constexpr unsigned tracer::power_of_two(type t, value v) const {
  if (!is_constant(v) || !ptx::is_integer(t)) return not_a_power;
  const std::uint64_t bits = bits_of(v);
  const bool negative = ptx::is_signed(t) && static_cast<std::int64_t>(bits) < 0;
  if (negative || bits == 0 || (bits & (bits - 1)) != 0) return not_a_power;
  unsigned n = 0;
  while (bits >> n != 1) ++n;
  return n;
}

constexpr bool tracer::commutes(operation op) {
  return op == operation::add || op == operation::mul || op == operation::min || op == operation::max ||
         op == operation::and_ || op == operation::or_ || op == operation::xor_;
}

// neg takes signed types; a negated unsigned number has the same bits.
constexpr type tracer::signed_form(type t) {
  return t == type::u32 ? type::s32 : t == type::u64 ? type::s64 : t;
}

constexpr modifier tracer::comparison(operation op, type t) {
  switch (op) {
    case operation::eq: return modifier::eq;
    case operation::ne: return ptx::is_floating(t) ? modifier::neu : modifier::ne;
    case operation::lt: return modifier::lt;
    case operation::le: return modifier::le;
    case operation::gt: return modifier::gt;
    default: return modifier::ge;
  }
}

// --- 16-bit floats
// f32 has more than twice the digits of a 16-bit float plus two: its result of + - * / and sqrt, rounded once
// more, equals a single rounding. Source: Figueroa, "When is double rounding innocuous?"
constexpr value tracer::by_f32(operation op, type t, value a, value b) {
  if (ptx::is_packed(t)) {
    const type e = ptx::element_of(t);
    const halves x = split(a, e);
    const halves y = b == 0 ? halves{0, 0} : split(b, e);
    const value low = by_f32(op, e, x.low, y.low);
    return join(t, low, by_f32(op, e, x.high, y.high));
  }
  const value x = cast(type::f32, t, a);
  if (b == 0) return cast(t, type::f32, unary(op, type::f32, x));
  return cast(t, type::f32, binary(op, type::f32, x, cast(type::f32, t, b)));
}

constexpr value tracer::half(operation op, type t, value a, value b) {
  const bool is_bf16 = ptx::element_of(t) == type::bf16;
  if (op == operation::div || (is_bf16 && target.sm < 80)) return by_f32(op, t, a, b);
  const bool is_native = !is_bf16 || target.sm >= 90;
  const modifier_list rn = in_order(modifier::rn);
  switch (op) {
    case operation::add:
      if (is_native) return pure({opcode::add, rn, t, type::none, t}, a, b);
      return multiply_add(t, a, one(t), b);
    case operation::sub:
      if (is_native) return pure({opcode::sub, rn, t, type::none, t}, a, b);
      return multiply_add(t, b, minus(t, one(t)), a);
    case operation::mul:
      if (is_native) return pure({opcode::mul, rn, t, type::none, t}, a, b);
      return multiply_add(t, a, b, minus(t, constant(t, 0)));
    default:
      if (target.sm < 80) return by_f32(op, t, a, b);
      return pure({op == operation::min ? opcode::min : opcode::max, 0, t, type::none, t}, a, b);
  }
}

constexpr std::uint64_t tracer::sign_bits(type t) { return ptx::is_packed(t) ? 0x80008000u : 0x8000u; }

constexpr value tracer::minus(type t, value v) { return constant(t, bits_of(v) ^ sign_bits(t)); }

// neg, abs and sqrt of bf16 on architectures that have no instruction for them.
constexpr value tracer::bf16_sign(operation op, type t, value a) {
  if (op == operation::sqrt) return by_f32(op, t, a, 0);
  const bool negates = op == operation::neg;
  const type b = move_type(t);
  const std::uint64_t all = ptx::is_packed(t) ? 0xffffffffu : 0xffffu;
  const value mask = constant(b, negates ? sign_bits(t) : all ^ sign_bits(t));
  return pure({negates ? opcode::xor_ : opcode::and_, 0, b, type::none, t}, a, mask);
}

// --- simplification by constants
// The simpler value of a op b for a constant b, or 0.
constexpr value tracer::simplified(operation op, type t, value a, value b) {
  const std::uint64_t bits = bits_of(b);
  if (t == type::pred) {
    if (op == operation::and_) return bits != 0 ? a : b;
    if (op == operation::or_) return bits != 0 ? b : a;
    if (op == operation::xor_) return bits != 0 ? unary(operation::not_, t, a) : a;
    return 0;
  }
  if (ptx::is_floating(t))
    return (op == operation::mul || op == operation::div) && bits == bits_of(one(t)) ? a : 0;
  const std::uint64_t all = canonical(t, ~std::uint64_t{0});
  const std::uint64_t width = std::uint64_t{8} * ptx::size_of(t);
  switch (op) {
    case operation::add:
    case operation::sub:
    case operation::xor_: return bits == 0 ? a : 0;
    case operation::shl:
      if (bits >= width) return constant(t, 0);
      return bits == 0 ? a : 0;
    case operation::shr:
      if (bits >= width)
        return ptx::is_unsigned(t) ? constant(t, 0) : binary(op, t, a, constant(type_of(b), width - 1));
      return bits == 0 ? a : 0;
    case operation::or_: return bits == 0 ? a : bits == all ? b : 0;
    case operation::and_: return bits == 0 ? b : bits == all ? a : 0;
    case operation::mul: {
      if (bits == 0 || bits == 1) return bits == 0 ? b : a;
      const unsigned n = power_of_two(t, b);
      return n == not_a_power ? 0 : binary(operation::shl, t, a, constant(type::u32, n));
    }
    case operation::div: return bits == 1 ? a : quotient(t, a, b);
    case operation::rem: return remainder(t, a, b);
    default: return 0;
  }
}

// a / b for a constant b, without a division; 0 if b is 0.
constexpr value tracer::quotient(type t, value a, value b) {
  const type r = register_type(t);
  const unsigned n = power_of_two(t, b);
  if (n != not_a_power && ptx::is_unsigned(t)) return binary(operation::shr, t, a, constant(type::u32, n));
  if (bits_of(b) == 0 || is_constant(a)) return 0;
  const unsigned width = ptx::size_of(r) * 8;
  if (ptx::is_unsigned(t)) {
    const unsigned_reciprocal m = reciprocal_of(bits_of(b), width, ptx::size_of(t) * 8);
    value x = in(r, a);
    if (m.shift_before != 0) x = binary(operation::shr, r, x, constant(type::u32, m.shift_before));
    if (!m.add && width == 32) {
      const value product = pure({opcode::mul, in_order(modifier::wide), r, type::none, type::u64}, x,
                                 constant(r, m.multiplier));
      return cast(t, type::u64,
                  binary(operation::shr, type::u64, product, constant(type::u32, 32 + m.shift)));
    }
    value q = high_product(r, x, m.multiplier);
    if (m.add)  // the multiplier has one bit more: (x - q) / 2 + q cannot overflow
      q = binary(operation::add, r,
                 binary(operation::shr, r, binary(operation::sub, r, x, q), constant(type::u32, 1)), q);
    return in(t, binary(operation::shr, r, q, constant(type::u32, m.shift)));
  }
  const auto divisor = static_cast<std::int64_t>(bits_of(b));
  const std::uint64_t magnitude = divisor < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(divisor)
                                              : static_cast<std::uint64_t>(divisor);
  const value x = in(r, a);
  value q = 0;
  if ((magnitude & (magnitude - 1)) == 0) {
    // Rounding toward zero: 2^k - 1 more for negative numbers.
    unsigned k = 0;
    while (magnitude >> k != 1) ++k;
    const type u = r == type::s64 ? type::u64 : type::u32;
    const value sign = binary(operation::shr, r, x, constant(type::u32, width - 1));
    const value bias =
        k == 0 ? constant(u, 0) : binary(operation::shr, u, in(u, sign), constant(type::u32, width - k));
    q = binary(operation::shr, r, binary(operation::add, r, x, in(r, bias)), constant(type::u32, k));
  } else {
    const signed_reciprocal m = signed_reciprocal_of(magnitude, width, ptx::size_of(t) * 8 - 1);
    q = high_product(r, x, m.multiplier);
    if (m.add) q = binary(operation::add, r, q, x);
    q = binary(operation::shr, r, q, constant(type::u32, m.shift));
    q = binary(operation::sub, r, q, binary(operation::shr, r, x, constant(type::u32, width - 1)));
  }
  if (divisor < 0) q = unary(operation::neg, r, q);
  return divisor == -1 ? narrow(t, q) : in(t, q);  // only the least number by -1 leaves the type
}

constexpr value tracer::remainder(type t, value a, value b) {
  const unsigned n = ptx::is_unsigned(t) ? power_of_two(t, b) : not_a_power;
  if (n != not_a_power) return binary(operation::and_, t, a, constant(t, bits_of(b) - 1));
  if (bits_of(b) == 1) return constant(t, 0);
  const value q = quotient(t, a, b);
  return q == 0 ? 0 : binary(operation::sub, t, a, binary(operation::mul, t, q, b));
}

// A 64-bit product of 32-bit numbers by one instruction on those; 0 if it is no such product.
constexpr value tracer::wide_product(type t, value a, value b) {
  if (t != type::u64 && t != type::s64) return 0;
  const type half = t == type::u64 ? type::u32 : type::s32;
  const value x = before_widening(half, a);
  if (x == 0) return 0;
  value y = 0;
  if (!is_constant(b))
    y = before_widening(half, b);
  else if (canonical(half, bits_of(b)) == bits_of(b))
    y = constant(half, bits_of(b));
  if (y == 0) return 0;
  return pure({opcode::mul, in_order(modifier::wide), half, type::none, t}, x, y);
}

// The 32-bit value that was converted to this 64-bit one, or 0.
constexpr value tracer::before_widening(type half, value v) const {
  if (is_constant(v)) return 0;
  const key made = made_of(v);
  return made.f.op == opcode::cvt && made.f.t1 == half ? made.a : 0;
}

constexpr value tracer::high_product(type t, value a, std::uint64_t multiplier) {
  return pure({opcode::mul, in_order(modifier::hi), t, type::none, t}, a,
              constant(t, canonical(t, multiplier)));
}

// The register of v, read as an integer of type t.
constexpr value tracer::in(type t, value v) {
  if (is_constant(v)) return constant(t, canonical(t, bits_of(v)));
  return type_of(v) == t ? v : copy(t, v);
}

}  // namespace kaio::dsl
