#pragma once
// The derivatives of single instructions on floats.
//
//   const value dy = instruction_tangent(t, ptx::type::f32).of(opcode::mul, made, y, {da, db, 0});

#include <kaio/dsl/derivative/tangent.hpp>

#include <cstdint>

namespace kaio::dsl::detail {

// How derivative() treats a pure instruction.
enum class derivative_rule : std::uint8_t {
  none,     // it is not known here
  tangent,  // instruction_tangent has its rule
  integer,  // it gives integers, predicates or addresses
  source,   // it reads what no val can change
  refused,  // it has no derivative, if its result is a float that depends on the variable
};

constexpr derivative_rule rule_of(opcode op) {
  switch (op) {
    case opcode::mov:
    case opcode::cvt:
    case opcode::selp:
    case opcode::add:
    case opcode::sub:
    case opcode::mul:
    case opcode::fma:
    case opcode::div:
    case opcode::neg:
    case opcode::abs:
    case opcode::min:
    case opcode::max:
    case opcode::sqrt:
    case opcode::rcp:
    case opcode::rsqrt:
    case opcode::ex2:
    case opcode::lg2:
    case opcode::sin:
    case opcode::cos:
    case opcode::tanh:
    case opcode::copysign:
    case opcode::and_:
    case opcode::xor_: return derivative_rule::tangent;
    case opcode::setp:
    case opcode::mad:
    case opcode::rem:
    case opcode::sad:
    case opcode::or_:
    case opcode::not_:
    case opcode::shl:
    case opcode::shr:
    case opcode::popc:
    case opcode::clz:
    case opcode::brev:
    case opcode::bfind:
    case opcode::bfe:
    case opcode::bfi:
    case opcode::lop3:
    case opcode::shf:
    case opcode::dp4a:
    case opcode::dp2a:
    case opcode::cvta:
    case opcode::cvta_to:
    case opcode::cvta_param:
    case opcode::createpolicy:
    case opcode::mapa:
    case opcode::getctarank: return derivative_rule::integer;
    case opcode::ld_param: return derivative_rule::source;
    case opcode::prmt:  // gives a packed pair
    case opcode::ld_const:
    case opcode::ld_nc:
    case opcode::text_pure: return derivative_rule::refused;
    default: return derivative_rule::none;
  }
}

struct operand_tangents {
  value a, b, c;
};

class instruction_tangent {
 public:
  constexpr instruction_tangent(tracer& t, ptx::type type) : on_(t, type) {}

  // The tangent of y, the result of the instruction. `d` are the tangents of its operands; at least one is not 0. mov
  // and cvt are in walk.hpp.
  constexpr value of(const tracer::key& made, value y, const operand_tangents& d) const {
    if (!ptx::contains(made.f.modifiers, modifier::sat)) return unbounded(made, y, d);
    // Within [0, 1] the result is the one without .sat.
    tracer::key free = made;
    free.f.modifiers = in_order(modifier::rn);
    const bool is_sum_with_zero = made.f.op == opcode::add && made.b == on_.number(-0.0_f64);  // saturate(x)
    const value result = is_sum_with_zero ? made.a : again(free.f, made.a, made.b, made.c);
    return on_.chosen(on_.equal(y, result), unbounded(free, result, d), 0);
  }

 private:
  constexpr value unbounded(const tracer::key& made, value y, const operand_tangents& d) const {
    tracer& t = on_.trace();
    const value a = made.a, b = made.b;
    switch (made.f.op) {
      case opcode::selp: return on_.chosen(made.c, d.a, d.b);
      case opcode::add: return on_.sum(d.a, d.b);
      case opcode::sub:
        if (d.a != 0 && d.b != 0) return on_.sub(d.a, d.b);
        return d.b == 0 ? d.a : on_.negated(d.b);
      case opcode::mul: return on_.product_sum(a, d.b, on_.product(b, d.a));
      case opcode::fma: return on_.product_sum(a, d.b, on_.product_sum(b, d.a, d.c));
      case opcode::div: {  // (a' - y b') / b
        const value above = on_.product_sum(on_.negated(y), d.b, d.a);
        if (!is_approximate(made)) return on_.quotient(above, b);
        return again(made.f, above, b);
      }
      case opcode::xor_:  // flips the sign
      case opcode::neg: return on_.negated(d.a);
      case opcode::and_:
      case opcode::abs: {
        const value below = t.compare(operation::lt, on_.type(), a, on_.number(0));
        return on_.chosen(below, on_.negated(d.a), d.a);
      }
      case opcode::min:
      case opcode::max: return on_.chosen(on_.equal(y, a), d.a, d.b);
      case opcode::copysign: return on_.chosen(on_.equal(y, b), d.b, on_.negated(d.b));
      case opcode::sqrt: {
        const value half = on_.product(on_.number(0.5_f64), d.a);
        if (!is_approximate(made)) return on_.quotient(half, y);
        return on_.product(again({opcode::rcp, made.f.modifiers, made.f.t0, made.f.t1, made.f.result}, y),
                           half);
      }
      case opcode::rcp: return on_.product(on_.mul(on_.negated(y), y), d.a);
      case opcode::rsqrt: return on_.product(on_.mul(on_.mul(y, on_.number(-0.5_f64)), on_.mul(y, y)), d.a);
      case opcode::ex2: return on_.product(on_.mul(y, on_.number(0.69314718055994531_f64)), d.a);
      case opcode::lg2: {
        const value inverse = again({opcode::rcp, made.f.modifiers, made.f.t0, made.f.t1, made.f.result}, a);
        return on_.product(on_.mul(inverse, on_.number(1.4426950408889634_f64)), d.a);
      }
      case opcode::sin:
      case opcode::cos: {
        const bool is_sine = made.f.op == opcode::sin;
        form other = made.f;
        other.op = is_sine ? opcode::cos : opcode::sin;
        const value next = again(other, a);
        return on_.product(is_sine ? next : on_.negated(next), d.a);
      }
      case opcode::tanh: return on_.product(on_.product_sum(on_.negated(y), y, on_.number(1)), d.a);
      default: return 0;
    }
  }

  static constexpr bool is_approximate(const tracer::key& made) {
    return ptx::contains(made.f.modifiers, modifier::approx);
  }
  constexpr value again(const form& f, value a, value b = 0, value c = 0) const {
    return on_.trace().pure(f, a, b, c);
  }

  tangent_arithmetic on_;
};

}  // namespace kaio::dsl::detail
