#pragma once
// The online softmax of some rows: after each tile of scores, the largest score of each row and the sum of
// its exponentials, so that rows of any length need no second pass.
//
//   m' = max(m, scores);   p = exp2(factor * (scores - m'));   l' = l * exp2(factor * (m - m')) + sum of p
//
// A row is shared by the four lanes of a quad, as the accumulators of matrix instructions are. The sums of
// the lanes are added at the end. Source: Milakov and Gimelshein, "Online normalizer calculation for
// softmax", 2018.

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

// `Lanes` neighbours share a row, a power of two.
template <std::uint32_t Rows, std::uint32_t Lanes = 4>
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
    const auto next = array_of<Rows>([&](u32 r) { return largest_with(s, r); });
    // Of a row that has had no key yet the difference would be inf - inf.
    const auto shift =
        array_of<Rows>([&](u32 r) { return t_.let(select(next[r] == nothing, 0.0f, next[r] * factor)); });
    const auto correction =
        array_of<Rows>([&](u32 r) { return t_.let(fast::ftz::exp2(largest_[r] * factor - shift[r])); });
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
    for (std::uint32_t lanes = 1; lanes < Lanes; lanes *= 2) sum_[row] += shfl_xor(sum_[row], lanes);
    const val largest = t_.let(select(largest_[row] == nothing, nothing, largest_[row] * factor));
    const val with_sink = t_.let(max(largest, sink));
    const val shift = t_.let(select(with_sink == nothing, 0.0f, with_sink));
    // 1 where there is no sink, or a smaller one.
    const val share = t_.let(fast::ftz::exp2(largest - shift));
    const val sum = t_.let(sum_[row] * share + fast::ftz::exp2(sink - shift));
    const val empty = t_.let(sum == 0.0f);
    const val inverse = t_.let(select(empty, 0.0f, share / sum));
    const val lse = t_.let(select(empty, nothing, shift * std::numbers::ln2_v<f32> + log(sum)));
    return {t_.let(select(largest == nothing, 0.0f, largest)), inverse, lse};
  }

 private:
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
    for (std::uint32_t lanes = 1; lanes < Lanes; lanes *= 2) result = max(result, shfl_xor(result, lanes));
    return result;
  }

  thread t_;
  dsl::register_array<var<f32>, Rows> largest_, sum_;
};

}  // namespace kaio::ops
