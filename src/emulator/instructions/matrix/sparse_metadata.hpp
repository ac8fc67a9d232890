#pragma once
// The metadata of mma.sp and wgmma.sp. A structured sparse A keeps half of the elements of each chunk of a
// row; the metadata says which. Four bits describe a chunk. Four consecutive lanes, group g, hold the bits of
// rows g and g + 8; if a selector names some of the four, only these lanes do. Source: PTX ISA, "Sparse
// matrix storage" and the figures of the fragments that follow it.
//
//   const sparse_metadata how(8, 32, selector);          // elements of 8 bits, K = 32
//   const auto [lane, shift] = how.bits_of_chunk(row, chunk);
//   column = chunk * how.chunk + how.position(metadata of that lane >> shift & 15, i);  // its i-th element

#include "emulator/program/scalar.hpp"

namespace kaio::emulator {

struct sparse_metadata {
  u32 chunk;   // elements of A per four bits
  u32 kept;    // elements stored per chunk
  u32 chunks;  // chunks per row
  u32 selector;
  bool rows_in_turn;  // a lane's bits belong to one row, not two

  constexpr sparse_metadata(u32 element_bits, u32 depth, u32 selected)
      : chunk(element_bits == 32  ? 2
              : element_bits == 4 ? 8
                                  : 4),
        kept(chunk / 2),
        chunks(depth / chunk),
        selector(selected),
        rows_in_turn(element_bits <= 8) {}

  // The number of selectors: one for each set of lanes that can hold all the bits.
  constexpr u32 selectors() const { return 16 / chunks; }

  struct place {
    u32 lane, shift;
  };
  // `row` is below 16.
  constexpr place bits_of_chunk(u32 row, u32 number) const {
    const u32 first = (row & 7) * 4 + selector * (chunks / 4);
    if (rows_in_turn) return {first + (row >> 3) + number / 8 * 2, number % 8 * 4};
    return {first + number / 4, (row >> 3) * 16 + number % 4 * 4};
  }

  // The place of the i-th kept element in its chunk. 4-bit elements are kept in pairs. For 32-bit elements,
  // the code is that of their first halves.
  constexpr u32 position(u32 code, u32 i) const {
    if (chunk == 2) return (code & 3) >> 1;
    if (chunk == 8) return (code >> (i / 2 * 2) & 3) * 2 + i % 2;
    return code >> (i * 2) & 3;
  }
};

}  // namespace kaio::emulator
