#pragma once
// Transposes a matrix of 8 x 8 elements of 16 bits in registers (PTX movmatrix, sm_75): each lane gives and
// gets two elements of a row. All lanes of the warp must reach the call together. Source: PTX ISA,
// "Warp-level matrix transpose instruction: movmatrix".
//
//   val transposed = movmatrix_trans(pair);      // pair: u32, f16x2 or bf16x2

#include <kaio/dsl/expression/expression.hpp>
#include <kaio/dsl/expression/val.hpp>

#include <cstdint>

namespace kaio::dsl {

// Lane i gives elements 2 * (i % 4) and the next of row i / 4, and gets those of the transposed matrix.
template <device E>
constexpr auto movmatrix_trans(const E& x, std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) {
  using T = element<E>;
  static_assert(sizeof(T) == 4 && !std::is_same_v<T, f32>,
                "kaio: movmatrix_trans takes two elements of 16 bits: u32, f16x2 or bf16x2");
  static_assert(node_of<E>::bound, "kaio: the value knows no kernel yet; bind it with t.let(value)");
  const auto node = x.node();
  tracer& t = kernel_of(node);
  t.statement(line, file);
  if (t.probing()) return val<T>(t, lower(t, node));
  const value v = t.in_register(lower(t, node));
  t.begin(opcode::movmatrix, in_order(modifier::trans, modifier::m8n8), ptx::type::b16);
  const value result = t.define(ptx_type<T>);
  t.use(v);
  return val<T>(t, result);
}

}  // namespace kaio::dsl
