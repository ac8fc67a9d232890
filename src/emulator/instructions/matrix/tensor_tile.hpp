#pragma once
// Multiplies whole matrices as a tensor core does. The results are those of dot_f32 (tensor_core.hpp) for each
// element, bit for bit, in a fraction of its time: 16 elements of D are computed side by side, by loops that
// the compiler vectorises for the host's processor.
//
//     narrow: one element at a time        wide: blocks of 16 lanes
//        k ->                                 k  ->  lanes 0 ... 15 of block 0, then those of block 1
//     row 0  x x x x                          0      x x x x x x x x x x x x x x x x
//     row 1  x x x x                          1      x x x x x x x x x x x x x x x x
//
// A product needs its operands in this form. Each element is split into an exponent and an f32 relative to the
// greatest exponent of its operand, so that the products of two f32 are exact.
//
//   tile_operand a(tile_shape::narrow), b(tile_shape::wide);
//   a.reset(model, tensor_format::f16, 64, 16);   // and b.reset(...)
//   a.set(row, k, bits);                          // and b.set(column, k, bits)
//   if (a.complete() && b.complete() && can_multiply(a, b)) multiply_tiles(model, a, b, {}, d);

#include "emulator/instructions/matrix/tensor_core.hpp"
#include "emulator/program/scalar.hpp"

#include <span>
#include <vector>

namespace kaio::emulator {

inline constexpr u32 tile_lanes = 16;

enum class tile_shape : u8 { narrow, wide };

class tile_operand {
 public:
  explicit tile_operand(tile_shape shape) : shape_(shape) {}

  // `outer`: rows of A, or columns of B. Unset elements are zero.
  void reset(const tensor_model& model, tensor_format format, u32 outer, u32 depth);
  // `bits`: in the low bits. The bits that tf32 lacks are ignored.
  void set(u32 outer, u32 k, u32 bits) {
    codes_[place(outer, k)] = halves_ == nullptr ? bits : halves_[bits & 0xff];
  }
  // For up to 16 rows or columns of elements of 16 or 32 bits: (outer, k) is at outer * outer_stride() + k * k_stride().
  u32* codes() { return codes_.data(); }
  u32 outer_stride() const { return shape_ == tile_shape::narrow ? depth_ : 1; }
  u32 k_stride() const { return shape_ == tile_shape::narrow ? 1 : tile_lanes; }
  // Sets all elements of a row or column from its bytes. `flipped`: the bits to flip in each element.
  void set_row(u32 outer, const u8* bytes, u32 flipped);
  // Splits all elements. False if one is infinite or NaN: then only dot_f32 has the result.
  bool complete();

  // Lanes of all blocks, some of them after the last row or column.
  u32 lanes() const { return lanes_; }
  u32 depth() const { return depth_; }
  // The order of K within a product (tensor_model::through_f16).
  u32 position(u32 k) const {
    return halves_ != nullptr ? (k >> 1 & 1) * (depth_ / 2) + (k >> 2) * 2 + (k & 1) : k;
  }

 private:
  friend bool can_multiply(const tile_operand& narrow, const tile_operand& wide);
  friend void multiply_tiles(const tensor_model&, const tile_operand&, const tile_operand&,
                             std::span<const u8>, std::span<u32>);

  std::size_t place(u32 outer, u32 k) const {
    k = position(k);
    if (shape_ == tile_shape::narrow) return std::size_t{outer} * depth_ + k;
    return (std::size_t{outer / tile_lanes} * depth_ + k) * tile_lanes + outer % tile_lanes;
  }

  const tile_shape shape_;
  tensor_format format_ = tensor_format::f16;
  const u16* halves_ = nullptr;  // the f16 of each 8-bit element, if the product goes through f16
  u32 lanes_ = 0, depth_ = 0;
  s32 greatest_ = 0, least_ = 0;  // exponents of nonzero elements; 0 if there are none
  std::vector<u32> codes_;        // the elements' bits
  std::vector<s32> exponent_;     // a zero's is below all others
  std::vector<f32> value_;        // divided by 2^greatest_
};

// True if no product of two elements leaves the range of f32.
bool can_multiply(const tile_operand& narrow, const tile_operand& wide);

// d[row * wide.lanes() + lane] += the product of a row and a lane; d has the bits of f32. For a sparse narrow
// operand, chosen[row * narrow.depth() + k] is the k of the wide one that belongs to its element k; otherwise
// `chosen` is empty.
void multiply_tiles(const tensor_model& model, const tile_operand& narrow, const tile_operand& wide,
                    std::span<const u8> chosen, std::span<u32> d);

}  // namespace kaio::emulator
