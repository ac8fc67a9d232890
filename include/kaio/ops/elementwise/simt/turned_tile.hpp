#pragma once
// A tile in shared memory that turns an input of elementwise, of elements of one or two bytes. It is written in
// pairs of neighbours along dimension 0, and read in pieces of `Width` neighbours along dimension 0. Rows are
// those of dimension 1:
//
//   row y      | piece 0 ^ s | piece 1 ^ s | ...      s = (y ^ y / Width) modulo the pieces of a row
//
// The permutation by s keeps the pairs of a warp in different banks, and so its pieces.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops::detail {

// Columns: elements of a row.
template <class T, u32 Width, u32 Columns>
struct turned_tile {
  static constexpr u32 size = sizeof(T), pieces = Columns / Width, pairs = Width / 2;
  static constexpr u32 words = Width * size / 4;  // of a piece
  static_assert(size <= 2 && (words == 1 || words == 2 || words == 4));
  static_assert(Width <= pieces && (pieces & (pieces - 1)) == 0);

  // The index of a piece of row y.
  static constexpr val<u32> place(thread t, const val<u32>& piece, const val<u32>& y) {
    return t.let(y * pieces + (piece ^ (y ^ y / Width) % pieces));
  }
  // The index of pair n of row y: elements 2 n and 2 n + 1.
  static constexpr val<u32> place_of_pair(thread t, const val<u32>& n, const val<u32>& y) {
    return t.let(place(t, t.let(n / pairs), y) * pairs + n % pairs);
  }

  // Stores one pair of `Width` rows. `from` has the first elements of the pairs, then the second ones, in words.
  // place: of the pair of the first row, whose number is a multiple of Width.
  template <class Words>
  static constexpr void store(thread t, const val<u32>& place, const Words& from) {
    using pair = std::conditional_t<size == 2, u32, u16>;
    const dynamic_shared<pair> tile(t);
    for (u32 k = 0; k < Width; ++k) {
      const u32 word = k * size / 4, byte = k * size % 4;
      const u32 selector = size == 2 ? 0x5410u + byte * 0x1111u : byte | (4 + byte) << 4;
      const val both = t.let(byte_perm(from[word], from[words + word], selector));
      tile[(place ^ (k * pairs)) + k * (Columns / 2)] = cast<pair>(both);
    }
  }
  // Loads a piece into to[first], to[first + 1], ...
  template <class Words>
  static constexpr void load(thread t, const val<u32>& place, Words& to, u32 first) {
    if constexpr (words == 1) {
      const dynamic_shared<u32> tile(t);
      to[first] = tile[place];
    } else {
      const dynamic_shared<vec<u32, words>> tile(t);
      const val piece = tile[place];
      for (u32 i = 0; i < words; ++i) to[first + i] = piece[i];
    }
  }
};

}  // namespace kaio::ops::detail
