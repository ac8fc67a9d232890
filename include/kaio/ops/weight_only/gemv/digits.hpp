#pragma once
// x as integers in digits of eight bits, for matmul_w4 of one row with matrix instructions on bytes. If 2^e
// exceeds the largest |x| of a tile of 64, x is rounded to X times 2^(e - 30):
//
//   X = d0 + 2^8 d1 + 2^16 d2 + 2^24 d3       -128 <= d0, d1, d2 < 128, |d3| <= 64
//
// f16 numbers from 2^(e - 20) on, and bf16 numbers from 2^(e - 23) on, are exact. No number is off by more
// than 2^(e - 31). e - 30 is at least -126: numbers of bf16 below 2^-119 may lose bits. In a tile with an
// infinite x, infinities become 1 or -1 and the other numbers 0, and a sum is a multiple of infinity. With a
// NaN it is NaN.
//
// Words of a tile in shared memory; the codes of word j have the order of layout.hpp:
//
//   digits    [4 digits d][4 lanes c][4 j]    bytes: x[16 j + 2 c], x[16 j + 2 c + 8] and the two after these
//   totals    [2]{minus, unit}                for d0 + 2^8 d1 and d2 + 2^8 d3: minus its sum over the tile,
//                                             as i32, and the value of a unit of it, as f32

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/row_elements.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

using dsl::scalar;

template <scalar T>
class w4_one_row_digits {
  using elements = row_elements<T, 90>;

 public:
  static constexpr u32 of_digit = w4_tile_k / 4, totals = 4 * of_digit, of_tile = totals + 4;  // words
  static constexpr u32 piece = 8;  // adjacent elements per lane; the lanes of a tile are adjacent too

  // Stores piece i of a block's split, given as four words. stores: the piece exists. All lanes of a warp
  // call.
  template <class Memory, class Words>
  static constexpr void store(thread t, const Memory& to, const val<u32>& i, const Words& words,
                              const val<bool>& stores) {
    const val tile = t.let(i / of_pieces * of_tile), p = t.let(i % of_pieces);
    const val most = t.let(largest(t, words));
    const val exponent = t.let(max(most >> 23, least_exponent));
    const val is_finite = t.let(most < infinity);
    const val scale = t.let(bit_cast<f32>((283u - exponent) << 23));  // 2^(30 - e)

    // x[8 p] to x[8 p + 3] and the four that are eight after them; for odd p its last four and those eight
    // before.
    const val is_odd = t.let(p % 2u != 0u);
    auto pairs = array_of<4>([&](u32) { return var(t, 0u); });
    for (u32 w = 0; w < 2; ++w) {
      const val first = t.let(words[w]), last = t.let(words[w + 2]);
      const val other = shfl_xor(t.let(select(is_odd, first, last)), 1u);
      pairs[w] = select(is_odd, other, first);
      pairs[w + 2] = select(is_odd, last, other);
    }
    auto numbers = array_of<8>([&](u32 e) {
      const val x = elements::value(t, pairs, 0, e);
      return var(t, cast<i32>(x * scale, dsl::round_nearest));
    });
    if (auto rare = t.when(!is_finite))
      for (u32 e = 0; e < 8; ++e) {
        const val bits = t.let(bit_cast<u32>(elements::value(t, pairs, 0, e)));
        const val sign = t.let(select(bits >> 31 != 0u, -1, 1));
        numbers[e] = select((bits & 0x7fffffffu) == infinity, sign, 0);
      }

    const val at = t.let(tile + select(is_odd, 8u, 0u) + p / 2u);  // lanes c = 2 and 3 have odd p
    auto sums = array_of<4>([&](u32) { return var(t, 0); });
    for (u32 c = 0; c < 2; ++c) {
      const auto four = array_of<4>([&](u32 b) {
        const val number = t.let(bit_cast<u32>(numbers[b % 2 * 4 + 2 * c + b / 2]));
        return t.let((number + 0x00808080u) ^ 0x00808080u);
      });
      // Byte d of each of four words.
      const auto halves = array_of<4>([&](u32 h) {
        return t.let(byte_perm(four[h % 2 * 2], four[h % 2 * 2 + 1], h < 2 ? 0x5140u : 0x7362u));
      });
      for (u32 d = 0; d < 4; ++d) {
        const val low = t.let(halves[d / 2 * 2] + 0u), high = t.let(halves[d / 2 * 2 + 1] + 0u);
        const val digits = t.let(byte_perm(low, high, d % 2 == 0 ? 0x5410u : 0x7632u));
        sums[d] = dp4a(bit_cast<i32>(digits), bit_cast<i32>(t.let(val<u32>(0x01010101u))), sums[d]);
        if (auto exists = t.when(stores)) to[at + (d * of_digit + c * 4)] = digits;
      }
    }
    auto both = array_of<2>([&](u32 h) { return var(t, sums[2 * h] + sums[2 * h + 1] * 256); });
    for (u32 distance = 1; distance < of_pieces; distance *= 2)
      for (auto& sum : both) {
        const val other = shfl_xor(sum, distance);
        sum += other;
      }
    const val unit = t.let(select(is_finite, (exponent - 29u) << 23, most));
    const val upper = t.let(select(is_finite, (exponent - 13u) << 23, 0u));
    if (auto first = t.when(all_of(stores, p == 0u))) {
      const val low = t.let(bit_cast<u32>(0 - both[0])), high = t.let(bit_cast<u32>(0 - both[1]));
      store_vec(to[tile + totals], make_vec(low, unit, high, upper));
    }
  }

 private:
  static constexpr u32 of_pieces = w4_tile_k / piece;
  static constexpr u32 infinity = 0x7f800000, least_exponent = 30;

  // The bits of the largest |x| of a tile, as f32.
  template <class Words>
  static constexpr val<u32> largest(thread t, const Words& words) {
    var most(t, 0u);  // the bits of both types are in the order of the numbers
    for (u32 w = 0; w < 4; ++w) {
      most = max(most, words[w] & 0x7fff0000u);
      most = max(most, words[w] << 16 & 0x7fff0000u);
    }
    for (u32 distance = 1; distance < of_pieces; distance *= 2) {
      const val other = shfl_xor(most, distance);
      most = max(most, other);
    }
    if constexpr (std::is_same_v<T, f16>)
      return t.let(bit_cast<u32>(cast<f32>(high(bit_cast<f16x2>(most)))));
    else
      return t.let(most + 0u);
  }
};

}  // namespace kaio::ops
