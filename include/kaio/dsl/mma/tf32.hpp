#pragma once
// Rounds to tf32: matrix instructions read only the upper 19 bits of such an f32 (PTX cvt.rna.tf32.f32,
// sm_80).
//
//   a.registers[0] = round_to_tf32(x);                 // without it the lower 13 bits are cut off

#include <kaio/dsl/expression/expression.hpp>
#include <kaio/dsl/expression/pure.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {
struct round_to_tf32_rule {
  static constexpr value apply(tracer& t, value x) {
    return t.pure({opcode::cvt, in_order(modifier::rna, modifier::tf32), ptx::type::f32, ptx::type::none,
                   ptx::type::u32},
                  t.in_register(x));
  }
};
}  // namespace detail

// The bits of an f32 rounded to 10 bits of mantissa (nearest, ties away from zero), as a register of a
// fragment.
template <device E>
constexpr auto round_to_tf32(const E& x) {
  static_assert(std::is_same_v<element<E>, f32>, "kaio: round_to_tf32 takes an f32; write cast<f32>(x)");
  return make_pure<u32, detail::round_to_tf32_rule>(x.node());
}

}  // namespace kaio::dsl
