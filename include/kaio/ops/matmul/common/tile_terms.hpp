#pragma once
// The terms that kernels add to a tile of 16-bit C as tensor copies store it, chosen per call:
//
//   C[m, n] = activation(alpha * A * B + bias[n]) + factor * addend[m, n]
//
// The addend has C's type and is loaded by tensor copies, as C is stored. `general` handles all other
// matmul_terms.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/terms.hpp>

#include <cstdint>

namespace kaio::ops {

struct tile_terms {
  f32 alpha = 1, factor = 1;
  matmul_term bias = {};  // per column
  u32 activation = 0;     // a matmul_activation
  u32 has_addend = 0;
  u32 is_scaled = 1;    // neither an activation nor an addend
  f32 bias_factor = 1;  // 1 / alpha: sums begin at the bias, and alpha multiplies them
  u32 is_bf16 = 0;      // the type of C, if the launch gives it
  u32 unused = 0;

  // The tensor that a call adds last: its residual, or its C if nothing follows that.
  static constexpr const matmul_term& addend_of(const matmul_terms& terms) {
    return terms.c.type != 0 ? terms.c : terms.residual;
  }
  // Whether these terms are all that the call adds. Sums begin at the bias, which is read by twos and has C's
  // type or f32. The addend's rows begin at multiples of 16 bytes and do not overlap.
  static constexpr bool serve(const matmul_terms& terms, term_type output, std::uint64_t columns) {
    const matmul_term& addend = addend_of(terms);
    if (terms.bias.type != 0 && (!has_pairs(terms.bias, output) || !can_divide_by(terms.alpha))) return false;
    if (terms.c.type != 0 && (terms.activation != 0 || terms.residual.type != 0)) return false;
    if (addend.type == 0) return true;
    constexpr u64 vector = 16, most = u64{1} << 40;
    const u64 row = static_cast<u64>(addend.row) * 2, batch = static_cast<u64>(addend.batch) * 2;
    return addend.type == static_cast<u32>(output) && addend.column == 1 && addend.row > 0 &&
           static_cast<u64>(addend.row) >= columns && addend.batch >= 0 && row < most && batch < most &&
           (addend.address | row | batch) % vector == 0;
  }
  static constexpr tile_terms of(const matmul_terms& terms, term_type output) {
    return {.alpha = terms.alpha,
            .factor = terms.c.type != 0 ? terms.beta : 1,
            .bias = terms.bias,
            .activation = terms.activation,
            .has_addend = addend_of(terms).type != 0 ? 1u : 0u,
            .is_scaled = addend_of(terms).type == 0 && terms.activation == 0 ? 1u : 0u,
            .bias_factor = 1 / terms.alpha,
            .is_bf16 = output == term_type::bf16 ? 1u : 0u};
  }

 private:
  static constexpr bool has_pairs(const matmul_term& bias, term_type output) {
    const bool is_single = bias.type == static_cast<u32>(term_type::f32);
    const u64 size = is_single ? 4 : 2;
    return (is_single || bias.type == static_cast<u32>(output)) && bias.row == 0 && bias.column == 1 &&
           (bias.address | static_cast<u64>(bias.batch) * size) % (2 * size) == 0;
  }
  // The quotient is finite for every bias below 2^96.
  static constexpr bool can_divide_by(f32 alpha) {
    const f32 size = alpha < 0 ? -alpha : alpha;
    return size > 0x1p-32f && size < 0x1p32f;
  }
};

// The epilogue of these kernels if neither an activation nor an addend follows; sm90_terms_store does the
// rest.
template <scalar Out>
struct with_terms {
  static constexpr fixed_string name = "terms";
  static constexpr bool in_registers = true;
  constexpr val<f32> operator()(thread t, val<f32> x, place, dsl::tensor_map<Out, 3>,
                                val<tile_terms> terms) const {
    return t.let(x * terms[&tile_terms::alpha]);
  }
};

template <class Epilogue>
inline constexpr bool adds_tile_terms = false;
template <scalar Out>
inline constexpr bool adds_tile_terms<with_terms<Out>> = true;

}  // namespace kaio::ops
