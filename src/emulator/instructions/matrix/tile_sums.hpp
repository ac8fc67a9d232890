#pragma once
// The loops of tensor_tile.hpp. Each has 16 independent iterations, or a multiple, for the compiler to vectorise.
// They exist for several instruction sets; the host's processor chooses at run time.

#include "emulator/instructions/matrix/tensor_core.hpp"
#include "emulator/program/scalar.hpp"

#include <cstddef>

namespace kaio::emulator {

struct exponent_range {
  s32 greatest = -8000, least = 8000;  // of nonzero elements; crossed if there are none
  u32 special = 0;                     // not 0 if an element is infinite or NaN
};

// Splits `count` elements, a multiple of 16, into exponents and significands.
exponent_range split_elements(tensor_format format, const u32* codes, std::size_t count, s32* exponent,
                              f32* significand);
// Multiplies each significand by 2^(its exponent - `one`).
void scale_values(f32* values, const s32* exponents, std::size_t count, s32 one);

// One product of tiles. a is narrow, b is wide.
struct tile_sums {
  u32 rows, blocks, depth, wide_depth;
  const f32 *value_a, *value_b;
  const s32 *exponent_a, *exponent_b;
  const u32* places;  // the k of b for each k of a; of row r from r * places_stride on
  u32 places_stride;
  s32 greatest;  // the values' common exponent, of both operands together
  s32 fraction_bits, least_exponent;
  u32 result_bits;
  bool restarts;  // sums begin at zero and are added to d (tensor_model::through_f16)
  u32* d;
};

// `group`: the number of products in a sum, 2, 4, 8, 16 or 32; it divides the depth.
void sum_tile(const tile_sums& t, u32 group);

// The instruction sets for which the loops exist. The best one of the host's processor is used.
enum class loop_set : u8 { portable, avx2, avx512 };
// For tests: from here on uses these loops in all threads. False, without an effect, if the processor lacks them.
bool use_loops(loop_set set);

}  // namespace kaio::emulator
