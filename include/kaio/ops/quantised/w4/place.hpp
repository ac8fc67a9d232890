#pragma once
// The codes of a word of packed weights (layout.hpp), for the kernels that make and read them: a block for
// each tile of 32 x 64, a thread for each word.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/quantised/w4/layout.hpp>
#include <kaio/ops/quantised/w4/problem.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 w4_tile_threads = w4_tile_bytes / 4;

struct w4_word {
  val<u64> at;    // in words
  val<u32> n, k;  // of its lowest code
  val<u32> tile_n;

  // Code i = 0 .. 7 of the word: its nibble, and how far from the lowest one it is.
  static constexpr u32 nibble(u32 i) { return i / 2 + i % 2 * 4; }
  static constexpr u32 further_n(u32 i) { return i / 2 % 2; }
  static constexpr u32 further_k(u32 i) { return i / 4 * 8 + i % 2; }
};

// Of tile `tile`, counted along K first.
constexpr w4_word find_word(thread t, const val<u32>& tile, const val<u32>& tiles_k) {
  const val rank = t.thread_rank();
  const val tile_n = t.let(tile / tiles_k);
  const val tile_k = t.let(tile - tile_n * tiles_k);
  const val lane = t.let(rank / 4u % 32u);
  return {t.let(cast<u64>(tile) * u64{w4_tile_threads} + cast<u64>(rank)),
          t.let(tile_n * w4_tile_n + rank / 128u * 16u + lane / 4u * 2u),
          t.let(tile_k * w4_tile_k + rank % 4u * 16u + lane % 4u * 2u), tile_n};
}

}  // namespace kaio::ops
