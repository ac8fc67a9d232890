#pragma once
// Computes the products of a tensor core, bit for bit. For each group of K, it takes the products exactly and
// aligns them and c to their greatest exponent. It truncates below `fraction_bits` of that, adds the rest as
// integers and rounds the sum: toward zero to f32, to nearest even to f16. The result is the c of the next
// group. The products per group and the kept bits depend on the architecture. Sources: Khattak and Mikaitis,
// "Accurate Models of NVIDIA Tensor Cores", arXiv 2512.07004; Xie et al., "MMA-Sim: Bit-Accurate Reference
// Model of Tensor Cores and Matrix Cores", arXiv 2511.10909.
//
//   const tensor_model model = tensor_model_of(90, tensor_format::f16, tensor_path::warp);
//   tensor_operand a(model, tensor_format::f16, 16, 16), b(model, tensor_format::f16, 8, 16);
//   a.set(row, k, bits);  // and b.set(column, k, bits)
//   d = dot_f32(model, a, row, b, column, c);

#include "emulator/program/scalar.hpp"

#include <span>
#include <vector>

namespace kaio::emulator {

// The element type of A and B, if it is floating point.
enum class tensor_format : u8 { f16, bf16, tf32, e4m3, e5m2 };

// The instruction that feeds the tensor core: mma.sync and wmma, or wgmma.
enum class tensor_path : u8 { warp, warpgroup };

struct tensor_model {
  u32 group;           // products that are summed before the sum is rounded
  s32 fraction_bits;   // kept below the greatest exponent of a group
  s32 least_exponent;  // the terms are aligned to it if all are smaller
  u32 result_bits;     // fraction bits of an f32 result
  // sm_90 has no mma.sync for 8-bit formats: ptxas makes two f16 instructions from one. The first takes the
  // elements with k mod 4 = 0 or 1. They start at zero, and an ordinary addition adds c to their result.
  bool through_f16;
};

tensor_model tensor_model_of(u32 sm, tensor_format format, tensor_path path);

// The f16 of an e4m3 number; exact.
u32 f16_of_e4m3(u32 bits);

// Rows of A or columns of B, `depth` elements each, split into significands and exponents. Unset elements are
// zero.
class tensor_operand {
 public:
  tensor_operand() = default;
  tensor_operand(const tensor_model& model, tensor_format format, u32 rows, u32 depth) {
    reset(model, format, rows, depth);
  }
  void reset(const tensor_model& model, tensor_format format, u32 rows, u32 depth);

  // `bits`: in the low bits. The bits that tf32 lacks are ignored.
  void set(u32 row, u32 k, u32 bits);

  // For a sparse A: becomes one row with the elements of from's row at chosen[0], chosen[1], ... B's K is
  // then twice A's, and a group is as long as in a dense product. `chosen` counts in the order of `set`.
  void gather(const tensor_operand& from, u32 row, std::span<const u8> chosen);

 private:
  friend struct tensor_dot;
  u32 place(u32 k) const;

  tensor_format format_ = tensor_format::f16;
  bool through_f16_ = false;
  u32 depth_ = 0;
  s32 fraction_bits_ = 0;         // fraction bits of a significand
  std::vector<s16> exponent_;     // place of the first bit before the point; a zero's is below all others
  std::vector<s16> significand_;  // signed; infinity and NaN: see kind_
  std::vector<u8> kind_;          // per element
  std::vector<u8> row_kinds_;     // per row: its elements' kinds, or-ed
};

// a's row times b's row plus c, over all of K. Both operands have one depth, a power of two; c and the result
// are bits.
u32 dot_f32(const tensor_model& model, const tensor_operand& a, u32 row, const tensor_operand& b, u32 column,
            u32 c);
u16 dot_f16(const tensor_model& model, const tensor_operand& a, u32 row, const tensor_operand& b, u32 column,
            u16 c);

// The result of an integer multiplication from its exact value: wrapped, or clamped with .satfinite.
inline s32 integer_result(s64 exact, bool satfinite) {
  if (satfinite && exact > 0x7fffffff) return 0x7fffffff;
  if (satfinite && exact < -s64{0x80000000}) return static_cast<s32>(-s64{0x80000000});
  return static_cast<s32>(static_cast<u32>(static_cast<u64>(exact)));
}

}  // namespace kaio::emulator
