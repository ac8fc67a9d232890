#pragma once
// A bias of q's element type, or a mask, in memory, for the forward kernels for sm_90a. A thread reads the
// elements of its scores while the products are in flight. biased_score does the rest: both at once, f32, any
// strides, a soft cap and ALiBi.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/common/terms.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

// One tensor with an element for each score; neighbouring keys are adjacent. Strides count bytes.
struct score_pairs {
  enum kind : u32 {
    keep,         // bytes, read in pairs of keys
    bias,         // elements of q, read in pairs of keys
    vector_bias,  // elements of q, read in vectors of eight keys, 16 bytes
  };
  u64 address, batch, head, query;
  u32 what;

  // The bias or keep of a call with operands of two bytes and `keys` keys. Address 0: it cannot be read in
  // pairs.
  static constexpr score_pairs of(const attention_score_tensor& bias, const attention_score_tensor& keep,
                                  std::uint64_t keys) {
    if ((bias.address != 0) == (keep.address != 0)) return {};
    const bool adds = bias.address != 0;
    const attention_score_tensor& x = adds ? bias : keep;
    const std::uint32_t bytes = adds ? 2 : 1;
    const std::uint64_t places = x.address | x.batch | x.head | x.query;
    if (x.key != bytes || x.is_f32 != 0 || keys % 2 != 0 || places % (2 * bytes) != 0) return {};
    const bool by_16 = adds && keys % 8 == 0 && places % 16 == 0;
    return {x.address, x.batch, x.head, x.query,
            by_16  ? vector_bias
            : adds ? score_pairs::bias
                   : score_pairs::keep};
  }
};

//   x = scale * (q . k) + bias, or -inf if keep is 0
//
// Scores become exponents of two, as in biased_score.
struct pair_biased_score {
  static constexpr fixed_string name = "pair_biased";

  // The elements of a thread's scores, two in each word, read before the scores are complete.
  template <class Scores>
  using ahead = dsl::register_array<var<u32>, Scores::size() / 2>;
  template <class Scores, std::uint32_t Rows>
  static constexpr void read_ahead(thread t, ahead<Scores>& to, const Scores& s,
                                   const score_origin<Rows>& origin, const val<score_pairs>& tensor) {
    const val what = t.let(tensor[&score_pairs::what]);
    if (auto by_16 = t.when(what == u32{score_pairs::vector_bias})) read_vectors(t, s, origin, tensor, to);
    if (auto by_4 = t.when(what == u32{score_pairs::bias})) read_pairs<u32>(t, s, origin, tensor, to);
    if (auto masked = t.when(what == u32{score_pairs::keep})) read_pairs<u16>(t, s, origin, tensor, to);
  }
  template <class Scores, std::uint32_t Rows>
  static constexpr void tile(thread t, Scores& s, const score_origin<Rows>&, const val<f32>& scale,
                             const val<score_pairs>& tensor, const ahead<Scores>& read) {
    using pair = std::conditional_t<std::is_same_v<typename Scores::element, f16>, f16x2, bf16x2>;
    const val adds = t.let(tensor[&score_pairs::what] != u32{score_pairs::keep});
    if (auto biased = t.when(adds)) {
      for (u32 p = 0; p < s.size() / 2; ++p) {
        const val two = t.let(bit_cast<pair>(read[p]));
        s[2 * p] = exponent(t, s[2 * p], scale, t.let(cast<f32>(low(two))));
        s[2 * p + 1] = exponent(t, s[2 * p + 1], scale, t.let(cast<f32>(high(two))));
      }
    }
    if (auto masked = t.otherwise()) {
      const val factor = t.let(scale * log2_of_e);
      for (u32 p = 0; p < s.size() / 2; ++p) {
        s[2 * p] = select((read[p] & 0xffu) != 0u, s[2 * p] * factor, none);
        s[2 * p + 1] = select(read[p] > 0xffu, s[2 * p + 1] * factor, none);
      }
    }
  }

  // For a single score at any place, as in rows that are recomputed.
  template <scalar T>
  static constexpr void tile(thread t, const single_score<T>& s, const score_origin<1>& origin,
                             const val<f32>& scale, const val<score_pairs>& tensor) {
    const val row = row_of(t, origin, 0, tensor);
    const val adds = t.let(tensor[&score_pairs::what] != u32{score_pairs::keep});
    if (auto biased = t.when(adds))
      s[0] = exponent(t, s[0], scale, t.let(cast<f32>(pointer_at<in<T>>(t, row)[origin.key])));
    if (auto masked = t.otherwise()) {
      const val kept = t.let(cast<u32>(pointer_at<in<u8>>(t, row)[origin.key]) != 0u);
      s[0] = select(kept, s[0] * (scale * log2_of_e), none);
    }
  }
  static constexpr val<f32> factor(thread t, const val<f32>&, const val<score_pairs>&) { return t.let(1.0f); }

  // States the parameters; kernels call `tile`.
  constexpr val<f32> operator()(thread t, val<f32> score, attention_place at, val<score_pairs> tensor) const;

 private:
  static constexpr f32 none = -std::numeric_limits<f32>::infinity();

  // A whole row of the bias may be the lowest finite number.
  static constexpr val<f32> exponent(thread t, const var<f32>& score, const val<f32>& scale,
                                     const val<f32>& bias) {
    constexpr f32 lowest = std::numeric_limits<f32>::lowest();
    const val x = t.let(fma(score, scale, bias));
    const val result = t.let(x * log2_of_e);
    return t.let(select(x >= lowest, max(result, lowest), result));
  }

  // Address of the elements of a thread's row r, at key 0.
  template <std::uint32_t Rows>
  static constexpr val<u64> row_of(thread t, const score_origin<Rows>& origin, u32 r,
                                   const val<score_pairs>& x) {
    const val of_head = t.let(x[&score_pairs::address] + cast<u64>(origin.batch) * x[&score_pairs::batch] +
                              cast<u64>(origin.head) * x[&score_pairs::head]);
    return t.let(of_head + cast<u64>(min(origin.query[r], origin.last_query)) * x[&score_pairs::query]);
  }
  // Reads a Pair of elements for each pair of a thread's scores. Keys outside of the sequence read the last
  // pair; the mask removes them afterwards.
  template <scalar Pair, class Scores, std::uint32_t Rows>
  static constexpr void read_pairs(thread t, const Scores& s, const score_origin<Rows>& origin,
                                   const val<score_pairs>& x, ahead<Scores>& to) {
    const val last = t.let(origin.last_key & ~1u);
    const auto row = array_of<Rows>([&](u32 r) { return row_of(t, origin, r, x); });
    for (u32 p = 0; p < s.size() / 2; ++p) {
      const val key = t.let(min(origin.key + s.column(2 * p), last));
      const val at = t.let(row[s.row(2 * p)] + cast<u64>(key * static_cast<u32>(sizeof(Pair) / 2)));
      to[p] = cast<u32>(pointer_at<in<Pair>>(t, at)[0]);
    }
  }
  // Reads vectors of eight keys. In the quad that holds a row, lane i reads vector i of four; then the lanes
  // exchange words.
  template <class Scores, std::uint32_t Rows>
  static constexpr void read_vectors(thread t, const Scores& s, const score_origin<Rows>& origin,
                                     const val<score_pairs>& x, ahead<Scores>& to) {
    static_assert(Rows == 2 && Scores::size() % 16 == 0 && Scores::row(2) == 1 && Scores::column(4) == 8);
    const val lane = t.let(t.lane_rank() % 4u), last = t.let(origin.last_key & ~7u);
    for (u32 r = 0; r < Rows; ++r) {
      const val row = row_of(t, origin, r, x);
      for (u32 c = 0; c < s.size() / 16; ++c) {  // 32 keys
        // origin.key is 2 * lane after the first key of the tile; vector `lane` is 8 * lane after it.
        const val key = t.let(min(origin.key + (lane * 6u + 32 * c), last));
        const val four = load_vec<4>(pointer_at<in<u32>>(t, t.let(row + cast<u64>(key * 2u)))[0]);
        for (u32 j = 0; j < 4; ++j) to[2 * (4 * c + j) + r] = four[j];
      }
    }
    exchange<Scores>(t, to);
  }
  // Transposes four words within a quad: word j of lane i becomes word i of lane j. First between neighbours,
  // then between pairs of lanes.
  template <class Scores>
  static constexpr void exchange(thread t, ahead<Scores>& words) {
    const val odd = t.let(t.lane_rank() % 2u != 0u), upper = t.let(t.lane_rank() % 4u >= 2u);
    const auto swap = [&](var<u32>& a, var<u32>& b, const val<bool>& second, u32 with) {
      const val got = shfl_xor(t.let(select(second, a, b)), with);
      const val kept = t.let(select(second, b, a));
      a = select(second, got, kept);
      b = select(second, kept, got);
    };
    for (u32 first = 0; first < Scores::size() / 2; first += 8)  // four words of each of two rows
      for (const u32 r : {0u, 1u}) {
        const auto word = [&](u32 j) -> var<u32>& { return words[first + 2 * j + r]; };
        for (const u32 j : {0u, 2u}) swap(word(j), word(j + 1), odd, 1);
        for (const u32 j : {0u, 1u}) swap(word(j), word(j + 2), upper, 2);
      }
  }
};

}  // namespace kaio::ops
