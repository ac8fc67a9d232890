#pragma once
// The error texts of derivative().

#include <kaio/ptx/opcode.hpp>

namespace kaio::dsl::detail {

struct derivative_refusals {
  const char* constant =
      "kaio: derivative by a value that is a constant of this kernel: the compiler folds all results of it; take it from memory or a parameter";
  const char* calls =
      "kaio: derivative in a kernel with too many calls of mathematical functions (2048); split it into several kernels";
  const char* integer =
      "kaio: derivative of a conversion to an integer; write floor(x), rint(x) or trunc(x), whose derivative is 0, or choose by a comparison: select(x > 1.0f, a, b)";
  const char* bits =
      "kaio: derivative of a bit_cast, or of a conversion to e4m3 or e5m2; write the function in arithmetic, with abs(x) and copysign(x, y) for signs";
  const char* variable =
      "kaio: derivative of a var that was written after the variable of the derivative was made, or is read in a loop within it; compute with vals, and choose by select(condition, a, b)";
  const char* local =
      "kaio: derivative of an element of a local array that was written after the variable of the derivative was made; compute with vals";
  const char* packed =
      "kaio: derivative of a packed pair or of the words of a number; compute with f16, bf16 or f32";
};
inline constexpr derivative_refusals derivative_refusal{};

// The error for an instruction without a rule, whose floating result depends on the variable.
constexpr const char* refusal_of(ptx::opcode op) {
  using ptx::opcode;
  switch (op) {
    case opcode::ld:
    case opcode::ld_nc:
    case opcode::ld_const:
    case opcode::ld_param:
      return "kaio: derivative of a load whose address depends on the variable of the derivative; load before, at an index that does not";
    case opcode::shfl_sync:
    case opcode::vote_sync:
    case opcode::match_sync:
    case opcode::redux_sync:
    case opcode::bar_red:
      return "kaio: derivative of a shuffle, vote or reduction: its result depends on other threads too; differentiate what they exchange";
    case opcode::atom: return "kaio: derivative of an atomic operation on memory; compute with vals";
    case opcode::text:
    case opcode::text_pure:
      return "kaio: derivative of a ptx_op: what its instruction computes is not known; write it with functions of the language";
    default:
      return "kaio: derivative of an instruction that has none; compute with the arithmetic and functions of floats";
  }
}

}  // namespace kaio::dsl::detail
