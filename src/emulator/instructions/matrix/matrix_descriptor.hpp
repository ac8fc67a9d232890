#pragma once
// The place of a matrix in shared memory, from a matrix descriptor of wgmma (PTX ISA, "Matrix Descriptor
// Format" and "Strides"). The unit is 16 bytes. In a K-major matrix they belong to one row of A or one column
// of B; in an MN-major one to one k. Eight rows by 16, 32, 64 or 128 bytes make a swizzle atom; bits of the
// address permute the 16-byte units of a row within it.
//
//   const matrix_descriptor b(bits);
//   const u32 address = b.k_major(column, 1);  // of the second 16 bytes of that column

#include "emulator/program/scalar.hpp"

namespace kaio::emulator {

class matrix_descriptor {
 public:
  explicit constexpr matrix_descriptor(u64 bits)
      : start_(field(bits, 0)),
        leading_(field(bits, 16)),
        stride_(field(bits, 32)),
        first_row_(static_cast<u32>(bits >> 49 & 7)),
        atom_(atom_of(static_cast<u32>(bits >> 62))) {}

  // Bytes 16 chunk ... 16 chunk + 15 in K of a row of A or a column of B. Leading offset: from one chunk to
  // the next without a swizzle, unused with one. Stride: from 8 rows to the next 8.
  constexpr u32 k_major(u32 row, u32 chunk) const {
    const u32 across = atom_ == 16 ? chunk * leading_ : chunk * 16;
    return swizzled(start_ + row / 8 * stride_ + row % 8 * atom_ + across);
  }

  // Elements 8 chunk ... 8 chunk + 7 of 16 bits along M or N, at one k. With a swizzle, the leading offset
  // separates atoms along M or N, and the stride groups of 8 k. Without one, the two change places.
  constexpr u32 mn_major(u32 k, u32 chunk) const {
    const u32 wide = atom_ / 16;
    const u32 along = atom_ == 16 ? chunk * stride_ : chunk / wide * leading_ + chunk % wide * 16;
    return swizzled(start_ + along + k / 8 * (atom_ == 16 ? leading_ : stride_) + k % 8 * atom_);
  }

 private:
  static constexpr u32 address_mask = 0x3ffff;

  static constexpr u32 field(u64 bits, unsigned from) { return static_cast<u32>(bits >> from & 0x3fff) << 4; }

  // Bytes of a row of the atom; mode: no swizzle, 128, 64 or 32 bytes.
  static constexpr u32 atom_of(u32 mode) { return mode == 0 ? 16 : 256u >> mode; }

  // The pattern repeats after up to 8 lines of 128 bytes. If patterns do not start at multiples of 1024, the
  // base offset gives the line of such an address.
  constexpr u32 swizzled(u32 address) const {
    const u32 line = (address >> 7) - first_row_;
    return (address ^ (line & (atom_ / 16 - 1)) << 4) & address_mask;
  }

  u32 start_, leading_, stride_;  // bytes
  u32 first_row_;
  u32 atom_;
};

}  // namespace kaio::emulator
