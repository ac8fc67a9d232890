#pragma once
// The terms that the prebuilt matmul adds to a product before the store, as kernel parameters. They are
// numbers chosen per call, so that one kernel serves every combination.
//
//   C = activation(alpha * A * B + beta * C + bias) + residual

#include <kaio/dsl/number/scalar.hpp>

namespace kaio::ops {

enum class matmul_activation : u8 { none, relu, gelu, gelu_tanh, silu };

// The element types of a tensor that the epilogue adds.
enum class term_type : u32 { none, f32, f16, bf16 };

// A tensor to add. The element for C(b, r, c) is b * batch + r * row + c * column elements after the address;
// a stride of 0 repeats. term_type::none: no tensor, nothing is read.
struct matmul_term {
  u64 address = 0;
  i64 batch = 0, row = 0, column = 0;
  u32 type = 0;  // a term_type
  u32 unused = 0;
};

struct matmul_terms {
  f32 alpha = 1, beta = 0;
  u32 activation = 0;  // a matmul_activation
  u32 plain = 1;       // 1: is_plain()
  matmul_term c, bias, residual;
  u32 by_four = 0;  // 1: reads_by_four()
  u32 unused = 0;

  // Whether alpha is the only term; `plain` must agree.
  constexpr bool is_plain() const {
    return c.type == 0 && bias.type == 0 && residual.type == 0 && activation == 0;
  }

  // Whether columns 4q to 4q + 3 are read at once: of a per-column bias, and of the rows of a 16-bit
  // residual, without a C. `by_four` passes this to the kernel, which then decides nothing per strip of C.
  constexpr bool reads_by_four() const {
    const auto has_fours = [](const matmul_term& x) {
      const u64 size = x.type == static_cast<u32>(term_type::f32) ? 4 : 2;
      const u64 begins = x.address | static_cast<u64>(x.row) * size | static_cast<u64>(x.batch) * size;
      return x.column == 1 && begins % (4 * size) == 0;
    };
    return c.type == 0 && (bias.type == 0 || (bias.row == 0 && has_fours(bias))) &&
           (residual.type == 0 || (residual.type != static_cast<u32>(term_type::f32) && has_fours(residual)));
  }
};

}  // namespace kaio::ops
