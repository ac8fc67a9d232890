#pragma once
// What a tensor core computes, bit for bit. It takes the products of a group of K exactly, aligns them and c
// to the greatest exponent among them, truncates below `fraction_bits` of it, adds the rest as
// integers and rounds the sum: toward zero to f32, to nearest even to f16. The result is the c of the next
// group. How many products make a group and how many bits are kept differs from architecture to architecture.
// Sources: Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor Cores", arXiv 2512.07004; Xie et al.,
// "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", arXiv 2511.10909.
//
//   const tensor_model model = tensor_model_of(90, tensor_format::f16, tensor_path::warp);
//   tensor_operand a(model, tensor_format::f16, 16, 16), b(model, tensor_format::f16, 8, 16);
//   a.set(row, k, bits);  // and b.set(column, k, bits)
//   d = dot_f32(model, a, row, b, column, c);

#include "emulator/program/scalar.hpp"

#include <span>
#include <vector>

namespace kaio::emulator {

// The type of the elements of A and B, where they are floating point.
enum class tensor_format : u8 { f16, bf16, tf32, e4m3, e5m2 };

// Which instruction feeds the tensor core: mma.sync and wmma, or wgmma.
enum class tensor_path : u8 { warp, warpgroup };

struct tensor_model {
  u32 group;           // products that are summed before the sum is rounded
  s32 fraction_bits;   // kept below the greatest exponent of a group
  s32 least_exponent;  // that the terms are aligned to if all are smaller
  u32 result_bits;     // of the fraction of an f32 result
  // sm_90 has no mma.sync for 8-bit formats. ptxas makes two of f16 from one, the first of which takes the
  // elements whose k is 0 or 1 modulo 4, starts them at zero, and adds c to their result with an ordinary
  // addition.
  bool through_f16;
};

tensor_model tensor_model_of(u32 sm, tensor_format format, tensor_path path);

// Rows of A or columns of B, `depth` elements each, taken apart into significands and exponents. Elements
// that were not set are zero.
class tensor_operand {
 public:
  tensor_operand() = default;
  tensor_operand(const tensor_model& model, tensor_format format, u32 rows, u32 depth) {
    reset(model, format, rows, depth);
  }
  void reset(const tensor_model& model, tensor_format format, u32 rows, u32 depth);

  // `bits`: in the low bits. Those that tf32 has not are ignored.
  void set(u32 row, u32 k, u32 bits);

  // For a sparse A: becomes one row, the elements of from's row at chosen[0], chosen[1], ... B's K is twice
  // that of A then, and a group is as long as that of a dense product. `chosen` counts in the order of `set`.
  void gather(const tensor_operand& from, u32 row, std::span<const u8> chosen);

 private:
  friend struct tensor_dot;
  u32 place(u32 k) const;

  tensor_format format_ = tensor_format::f16;
  bool through_f16_ = false;
  u32 depth_ = 0;
  s32 fraction_bits_ = 0;         // of a significand
  std::vector<s16> exponent_;     // of the first bit before the point; that of a zero is below every other
  std::vector<s16> significand_;  // signed; infinity and NaN: see kinds_
  std::vector<u8> kind_;          // of an element
  std::vector<u8> row_kinds_;     // all kinds of a row, by or
};

// a's row times b's row plus c, over all of K. Both operands have the same depth, a power of two; c and the
// result are bits.
u32 dot_f32(const tensor_model& model, const tensor_operand& a, u32 row, const tensor_operand& b, u32 column,
            u32 c);
u16 dot_f16(const tensor_model& model, const tensor_operand& a, u32 row, const tensor_operand& b, u32 column,
            u16 c);

// The result of an integer multiplication from its exact value: wraps, or is clamped with .satfinite.
inline s32 integer_result(s64 exact, bool satfinite) {
  if (satfinite && exact > 0x7fffffff) return 0x7fffffff;
  if (satfinite && exact < -s64{0x80000000}) return static_cast<s32>(-s64{0x80000000});
  return static_cast<s32>(static_cast<u32>(static_cast<u64>(exact)));
}

}  // namespace kaio::emulator
