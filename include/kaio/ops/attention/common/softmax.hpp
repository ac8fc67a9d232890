#pragma once
// The online softmax of some rows: after each tile of scores, the largest score of each row and the sum of
// its exponentials, so that rows of any length need no second pass.
//
//   m' = max(m, scores);   p = exp2(factor * (scores - m'));   l' = l * exp2(factor * (m - m')) + sum of p
//
// Lanes share a row: by default the four of a quad, as in the accumulators of matrix instructions. Their sums are added
// at the end. Source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/place.hpp>

#include <cstdint>
#include <limits>
#include <numbers>

namespace kaio::ops {

// What a row ends with.
struct softmax_row {
  val<f32> largest;  // of the exponents of two; 0 of a row without keys
  val<f32> inverse;  // 1 / sum; 0 of a row without keys
  val<f32> lse;      // ln of the sum of exp(score); -inf of a row without keys
};

// The softmax of some keys of a row.
struct softmax_total {
  val<f32> largest;  // exponent of two; -inf without keys
  val<f32> sum;      // of exp2(exponent - largest)
};

// The keys of a row and its sink: the sum of exp2(exponent - shift), and what the keys' own sum counts in it, 1 where
// there is no sink, or a smaller one.
struct softmax_with_sink {
  val<f32> shift, share, sum;

  constexpr val<f32> lse(thread t, const val<bool>& empty) const {
    return t.let(
        select(empty, -std::numeric_limits<f32>::infinity(), shift * std::numbers::ln2_v<f32> + log(sum)));
  }
};

// `largest` and `sum` are those of softmax_total, of all keys of a row; `sink`: the exponent of two of a key
// without a value, -inf: there is none.
template <class Sum>
constexpr softmax_with_sink add_sink(thread t, const val<f32>& largest, const Sum& of_keys,
                                     const val<f32>& sink) {
  const val with_sink = t.let(max(largest, sink));
  const val shift = t.let(select(with_sink == -std::numeric_limits<f32>::infinity(), 0.0f, with_sink));
  const val share = t.let(fast::ftz::exp2(largest - shift));
  return {shift, share, t.let(of_keys * share + fast::ftz::exp2(sink - shift))};
}

template <class Sum>
constexpr softmax_row softmax_result(thread t, const val<f32>& largest, const Sum& of_keys,
                                     const val<f32>& sink) {
  constexpr f32 nothing = -std::numeric_limits<f32>::infinity();
  const softmax_with_sink all = add_sink(t, largest, of_keys, sink);
  const val empty = t.let(all.sum == 0.0f);
  const val inverse = t.let(select(empty, 0.0f, all.share / all.sum));
  const val lse = all.lse(t, empty);
  return {t.let(select(largest == nothing, 0.0f, largest)), inverse, lse};
}

// `Lanes` lanes share a row, `Apart` from each other; both are powers of two. A lazy softmax keeps the largest score as
// it is until one comes that is 2^8 times as probable, so that corrections are seldom other than 1: probabilities are then up to 2^8, which no
// type loses precision by. Source: Zadouri et al., "FlashAttention-4", 2026.
template <std::uint32_t Rows, std::uint32_t Lanes = 4, bool Lazy = false, std::uint32_t Apart = 1>
class online_softmax {
  static constexpr f32 nothing = -std::numeric_limits<f32>::infinity();

 public:
  constexpr explicit online_softmax(thread t)
      : t_(t),
        largest_(array_of<Rows>([&](u32) { return var(t, nothing); })),
        sum_(array_of<Rows>([&](u32) { return var(t, 0.0f); })) {}

  // As before the first tile.
  constexpr void clear() {
    for (std::uint32_t r = 0; r < Rows; ++r) {
      largest_[r] = nothing;
      sum_[r] = 0.0f;
    }
  }

  // The scores of a tile become probabilities that are not yet divided by their sum. Returns, for each row,
  // by what all that was accumulated with the probabilities before must be multiplied. factor > 0 turns
  // scores into exponents of two.
  template <class Scores>
  constexpr dsl::register_array<val<f32>, Rows> step(Scores& s, const val<f32>& factor) {
    auto next = array_of<Rows>([&](u32 r) { return largest_with(s, r); });
    if constexpr (Lazy)
      for (std::uint32_t r = 0; r < Rows; ++r)  // not of -inf and -inf, whose difference is NaN
        next[r] = select((next[r] - largest_[r]) * factor > 8.0f, next[r], largest_[r]);
    // Of a row that has had no key yet the difference would be inf - inf.
    const auto shift =
        array_of<Rows>([&](u32 r) { return t_.let(select(next[r] == nothing, 0.0f, next[r] * factor)); });
    const auto correction = array_of<Rows>([&](u32 r) {
      const val grown = t_.let(fast::ftz::exp2(largest_[r] * factor - shift[r]));
      if constexpr (Lazy)  // the difference of two roundings is no 0 where nothing has grown
        return t_.let(select(next[r] == largest_[r], 1.0f, grown));
      else
        return grown;
    });
    for (std::uint32_t r = 0; r < Rows; ++r) {
      largest_[r] = next[r];
      sum_[r] *= correction[r];
    }
    for (std::uint32_t i = 0; i < s.size(); ++i) {
      s[i] = fast::ftz::exp2(s[i] * factor - shift[s.row(i)]);
      sum_[s.row(i)] += s[i];
    }
    return correction;
  }

  // After the last tile, by all lanes. `sink`: the exponent of two of a key without a value, -inf: there is
  // none.
  constexpr softmax_row finish(std::uint32_t row, const val<f32>& factor, const val<f32>& sink) {
    return softmax_result(t_, total_largest(row, factor), sum_[row], sink);
  }

  // In place of `finish`, of a row of which others have further keys.
  constexpr softmax_total total(std::uint32_t row, const val<f32>& factor) {
    const val largest = total_largest(row, factor);
    return {largest, t_.let(sum_[row])};
  }

 private:
  // As an exponent of two; the sums of the lanes are added.
  constexpr val<f32> total_largest(std::uint32_t row, const val<f32>& factor) {
    for (std::uint32_t lanes = 1; lanes < Lanes; lanes *= 2) sum_[row] += shfl_xor(sum_[row], Apart * lanes);
    return t_.let(select(largest_[row] == nothing, nothing, largest_[row] * factor));
  }

  // The largest score of a row until now. By chains that do not wait for each other.
  template <class Scores>
  constexpr var<f32> largest_with(Scores& s, std::uint32_t row) {
    constexpr std::uint32_t chains = 4;
    auto of_chain = array_of<chains>([&](u32) { return var(t_, largest_[row]); });
    std::uint32_t chain = 0;
    for (std::uint32_t i = 0; i < s.size(); ++i)
      if (s.row(i) == row) {
        of_chain[chain] = max(of_chain[chain], s[i]);
        chain = (chain + 1) % chains;
      }
    var result(t_, max(max(of_chain[0], of_chain[1]), max(of_chain[2], of_chain[3])));
    for (std::uint32_t lanes = 1; lanes < Lanes; lanes *= 2)
      result = max(result, shfl_xor(result, Apart * lanes));
    return result;
  }

  thread t_;
  dsl::register_array<var<f32>, Rows> largest_, sum_;
};

}  // namespace kaio::ops
