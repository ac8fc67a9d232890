#pragma once
// Attention composed from device functions, each an ordinary C++ function over device values. The kernel
// calls a softmax, and the softmax a reduction of the block. The kernel is a template over the head size and
// the caller's function of a score.
//
//   score(i, j) = Score(scale * q[i] . k[j], i, j)
//   y[i]        = sum over j of softmax(score(i, .))[j] * v[j]
//
// One block computes one row of y. Keys come in tiles, one key per thread. Between tiles the row keeps the
// largest score, the sum of the weights and the weighted sum of the values. If the largest score grows, both
// sums are rescaled.
// Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).

#include <kaio/dsl/dsl.hpp>

#include <limits>

namespace kaio::showcase {

// Functors over (score, query, key), as a caller would write them.
struct every_key {
  template <class S, class I, class J>
  constexpr auto operator()(const S& score, const I&, const J&) const {
    return score;
  }
};
struct causal {
  template <class S, class I, class J>
  constexpr auto operator()(const S& score, const I& query, const J& key) const {
    return select(key <= query, score, -std::numeric_limits<f32>::infinity());
  }
};

// The dot product of a query in shared memory with row `key` of a matrix, in four independent sums.
template <u32 Size>
constexpr val<f32> dot(thread t, const shared<f32, Size>& query, in<f32> keys, const val<u64>& key) {
  static_assert(Size % 4 == 0);
  auto sums = array_of<4>([&](u32) { return var<f32>(t, 0.0f); });
  for (auto d : t.range(0u, Size, 4))
    for (u32 j = 0; j < 4; ++j) sums[j] += query[d + j] * keys[key * Size + cast<u64>(d + j)];
  return t.let((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// The softmax of a row that arrives in tiles, one score a thread.
class online_softmax {
 public:
  constexpr explicit online_softmax(thread t)
      : t_(t), largest_(t, std::numeric_limits<f32>::lowest()), sum_(t, 0.0f) {}

  struct step {
    val<f32> weight;   // of this thread's score
    val<f32> rescale;  // the factor for all earlier sums
  };
  // Takes one score of each thread of the block.
  constexpr step add(const val<f32>& score) {
    val top = max(largest_, block_reduce(t_, score, maximum{}));
    val rescale = exp(largest_ - top);
    val weight = exp(score - top);
    sum_ = sum_ * rescale + block_reduce(t_, weight, plus{});
    largest_ = top;
    return {weight, rescale};
  }
  constexpr val<f32> sum() const { return t_.let(sum_); }

 private:
  thread t_;
  var<f32> largest_, sum_;
};

template <u32 Size, class Score = every_key>
inline constexpr auto row_attention = kernel<"row_attention_" + decimal<Size>, 128>(
    [](thread t, in<f32> q, in<f32> k, in<f32> v, out<f32> y, val<u32> keys, val<f32> scale) {
      static_assert(Size <= 128, "one thread an element of the output");
      shared<f32, Size> query(t);
      shared<f32, 128> weights(t);
      val rank = t.thread_rank();
      val row = t.let(block_idx_x());
      val own = t.let(rank < Size);
      if (auto one = t.when(own)) query[rank] = q[cast<u64>(row) * Size + cast<u64>(rank)] * scale;
      t.barrier();

      online_softmax softmax(t);
      var sum(t, 0.0f);
      for (auto tile : t.range(0u, keys, 128)) {
        val key = tile + rank;
        var score(t, -std::numeric_limits<f32>::infinity());
        if (auto inside = t.when(key < keys)) {
          val product = dot(t, query, k, t.let(cast<u64>(key)));
          score = Score{}(product, row, key);
        }
        const online_softmax::step step = softmax.add(t.let(score));
        weights[rank] = step.weight;
        t.barrier();
        sum *= step.rescale;
        if (auto one = t.when(own))
          for (auto j : t.range(0u, min(keys - tile, 128u)))
            sum += weights[j] * v[cast<u64>(tile + j) * Size + cast<u64>(rank)];
        t.barrier();
      }
      if (auto one = t.when(own)) y[cast<u64>(row) * Size + cast<u64>(rank)] = sum / softmax.sum();
    });

}  // namespace kaio::showcase
