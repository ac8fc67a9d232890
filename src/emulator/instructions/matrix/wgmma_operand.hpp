#pragma once
// A descriptor's matrix as bytes: its rows (or the columns of B) one after another, each with all of its K.
// An MN-major matrix is transposed.
//
//   for_chunks(descriptor, {0, 16}, 32, false, [](u32 address, ...) {});

#include "emulator/instructions/matrix/matrix_descriptor.hpp"
#include "emulator/program/scalar.hpp"

namespace kaio::emulator {

// A range of rows of A, or columns of B: multiples of 8.
struct outer_range {
  u32 first, last;
};

// Calls each(address, outer, k) for every 16-byte piece; it begins at row (or column) `outer` and byte `k` of
// K. K-major: the piece runs along K. MN-major: it runs along the rows, eight of them with 2 bytes each.
template <class Each>
void for_chunks(const matrix_descriptor& d, outer_range outer, u32 row_bytes, bool mn_major, Each&& each) {
  if (!mn_major) {
    for (u32 row = outer.first; row < outer.last; ++row)
      for (u32 chunk = 0; chunk < row_bytes / 16; ++chunk) each(d.k_major(row, chunk), row, chunk * 16);
    return;
  }
  for (u32 k = 0; k < row_bytes / 2; ++k)
    for (u32 chunk = outer.first / 8; chunk < outer.last / 8; ++chunk)
      each(d.mn_major(k, chunk), chunk * 8, k * 2);
}

}  // namespace kaio::emulator
