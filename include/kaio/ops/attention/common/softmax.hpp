#pragma once
// The online softmax of a thread's rows. After each tile of scores it has the largest score of each row and
// the sum of its exponentials. Rows of any length therefore need no second pass.
//
//   m' = max(m, scores);   p = exp2(factor * (scores - m'));   l' = l * exp2(factor * (m - m')) + sum of p
//
// Lanes share a row: by default the four of a quad, as in the accumulators of matrix instructions. Their sums
// are added at the end. Source: Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/place.hpp>

#include <cstdint>
#include <limits>
#include <numbers>

namespace kaio::ops {

// The final numbers of a row.
struct softmax_row {
  val<f32> largest;  // largest exponent of two; 0 for a row without keys
  val<f32> inverse;  // 1 / sum; 0 for a row without keys
  val<f32> lse;      // ln of the sum of exp(score); -inf for a row without keys
};

// The softmax over some keys of a row.
struct softmax_total {
  val<f32> largest;  // largest exponent of two; -inf without keys
  val<f32> sum;      // sum of exp2(exponent - largest)
};

// The softmax of a row with its sink:
//
//   sum = share * (sum over the keys) + exp2(sink - shift);   share is 1, or less if the sink is the largest
struct softmax_with_sink {
  val<f32> shift, share, sum;

  constexpr val<f32> lse(thread t, const val<bool>& empty) const {
    return t.let(
        select(empty, -std::numeric_limits<f32>::infinity(), shift * std::numbers::ln2_v<f32> + log(sum)));
  }
};

// `largest` and `sum` are those of softmax_total, over all keys of a row. `sink` is the exponent of two of a
// key without a value; -inf: no sink.
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

// `Lanes` lanes share a row, `Apart` from each other; both are powers of two. A lazy softmax keeps its
// largest score until one comes that is 2^8 times as probable, so that corrections are mostly 1.
// Probabilities are then up to 2^8, which costs no type any precision. Source: Zadouri et al.,
// "FlashAttention-4", 2026.
template <std::uint32_t Rows, std::uint32_t Lanes = 4, bool Lazy = false, std::uint32_t Apart = 1>
class online_softmax {
  static constexpr f32 nothing = -std::numeric_limits<f32>::infinity();

 public:
  constexpr explicit online_softmax(thread t)
      : t_(t),
        largest_(array_of<Rows>([&](u32) { return var(t, nothing); })),
        sum_(array_of<Rows>([&](u32) { return var(t, 0.0f); })) {}

  // Returns to the state before the first tile.
  constexpr void clear() {
    for (std::uint32_t r = 0; r < Rows; ++r) {
      largest_[r] = nothing;
      sum_[r] = 0.0f;
    }
  }

  // Turns the scores of a tile into probabilities, not yet divided by their sum. Returns each row's
  // correction: the factor that rescales earlier partial sums to the new maximum. factor > 0 turns scores
  // into exponents of two.
  template <class Scores>
  constexpr dsl::register_array<val<f32>, Rows> step(Scores& s, const val<f32>& factor) {
    auto next = array_of<Rows>([&](u32 r) { return largest_with(s, r); });
    if constexpr (Lazy)
      for (std::uint32_t r = 0; r < Rows; ++r)  // -inf - -inf is NaN: the comparison is then false
        next[r] = select((next[r] - largest_[r]) * factor > 8.0f, next[r], largest_[r]);
    // A row that has had no key yet would give inf - inf.
    const auto shift =
        array_of<Rows>([&](u32 r) { return t_.let(select(next[r] == nothing, 0.0f, next[r] * factor)); });
    const auto correction = array_of<Rows>([&](u32 r) {
      const val grown = t_.let(fast::ftz::exp2(largest_[r] * factor - shift[r]));
      if constexpr (Lazy)  // rounding may leave a difference although nothing has grown
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

  // Called by all lanes after the last tile. `sink` is the exponent of two of a key without a value;
  // -inf: no sink.
  constexpr softmax_row finish(std::uint32_t row, const val<f32>& factor, const val<f32>& sink) {
    return softmax_result(t_, total_largest(row, factor), sum_[row], sink);
  }

  // Replaces `finish` for a row whose other keys are elsewhere.
  constexpr softmax_total total(std::uint32_t row, const val<f32>& factor) {
    const val largest = total_largest(row, factor);
    return {largest, t_.let(sum_[row])};
  }

 private:
  // Adds the sums of the lanes. Returns the largest score as an exponent of two.
  constexpr val<f32> total_largest(std::uint32_t row, const val<f32>& factor) {
    for (std::uint32_t lanes = 1; lanes < Lanes; lanes *= 2) sum_[row] += shfl_xor(sum_[row], Apart * lanes);
    return t_.let(select(largest_[row] == nothing, nothing, largest_[row] * factor));
  }

  // The largest score of a row so far, by chains that do not wait for each other.
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
