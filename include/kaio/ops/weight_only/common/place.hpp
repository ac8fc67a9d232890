#pragma once
// The eight codes of a thread in kernels that write or read packed weights (layout.hpp). A block has a tile
// of 32 x 64. A thread has one word, or two with codes of eight bits.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 w4_tile_threads = w4_tile_codes / 8;

struct w4_word {
  val<u64> at;    // index, in words of codes of four bits
  val<u32> n, k;  // place of its lowest code
  val<u32> tile_n;

  // Code i = 0 .. 7 of a word: its nibble (with eight bits, its byte in both words), and its distance from
  // the lowest code.
  static constexpr u32 nibble(u32 i) { return i / 2 + i % 2 * 4; }
  static constexpr u32 byte(u32 i) { return i / 4 * 4 + i / 2 % 2 + i % 2 * 2; }
  static constexpr u32 further_n(u32 i) { return i / 2 % 2; }
  static constexpr u32 further_k(u32 i) { return i / 4 * 8 + i % 2; }
};

// The thread's word in tile `tile`; tiles are counted along K first.
constexpr w4_word find_word(thread t, const val<u32>& tile, const val<u32>& tiles_k) {
  const val rank = t.thread_rank();
  const val tile_n = t.let(tile / tiles_k);
  const val tile_k = t.let(tile - tile_n * tiles_k);
  const val lane = t.let(rank / 4u % 32u);
  return {t.let(cast<u64>(tile) * u64{w4_tile_threads} + cast<u64>(rank)),
          t.let(tile_n * w4_tile_n + rank / 128u * 16u + lane / 4u * 2u),
          t.let(tile_k * w4_tile_k + rank % 4u * 16u + lane % 4u * 2u), tile_n};
}

// The first of the two words with codes of eight bits: word 4 q + 2 r of a half, with j = 2 q + r.
constexpr val<u64> first_of_two_words(thread t, const w4_word& word) {
  const val rank = t.thread_rank();
  const val j = t.let(rank % 4u), lane = t.let(rank / 4u % 32u), half = t.let(rank / 128u);
  const val tile = t.let((word.at - cast<u64>(rank)) * u64{2});
  return t.let(tile + cast<u64>((half * 2u + j / 2u) * 128u + lane * 4u + j % 2u * 2u));
}

// Stores the words of a thread. Each code is code(n, k), or 0 beyond N and K. eight: codes have eight bits.
template <class W, class Code>
constexpr void store_codes(thread t, const w4_word& word, const W& w, const val<bool>& eight,
                           const Code& code) {
  const val n = t.let(w[&w4_packed::n]), k = t.let(w[&w4_packed::k]);
  const val neighbours = t.let(w[&w4_packed::neighbours] != 0u);
  var first(t, 0u), second(t, 0u);
  for (auto i : t.range(0u, 8u).no_unroll()) {  // see w4_word
    const val own_n = t.let(word.n + (i >> 1 & 1u));
    const val own_k = t.let(word.k + ((i >> 2) * 8u + (i & 1u)));
    if (auto exists = t.when(all_of(own_n < n, own_k < k))) {
      const val one = code(own_n, own_k);
      const val byte = t.let((i >> 1 & 1u) + (i & 1u) * 2u);
      const val nibble = t.let(select(neighbours, i, (i >> 1) + (i & 1u) * 4u));
      const val moved = t.let(one << select(eight, byte * 8u, nibble * 4u));
      const val is_second = t.let(all_of(eight, i >= 4u));
      first |= select(is_second, 0u, moved);
      second |= select(is_second, moved, 0u);
    }
  }
  const auto to = pointer_at<out<u32>>(t, t.let(w[&w4_packed::codes]));
  if (auto two = t.when(eight)) {
    const val at = first_of_two_words(t, word);
    to[at] = first;
    to[at + u64{1}] = second;
  }
  if (auto one = t.otherwise()) to[word.at] = first;
}

}  // namespace kaio::ops
