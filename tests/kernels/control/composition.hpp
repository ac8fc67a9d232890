#pragma once
// Kernels put together from functions, templates, lambdas and classes, as any C++ program is.

#include <kaio/dsl/dsl.hpp>

#include <array>
#include <cstdint>
#include <limits>

namespace kaio::tests {

// --- functions in functions: reductions, in a softmax, in an attention

// Turns the first n cells into probabilities. All threads of the block take part.
template <class Cells>
constexpr void softmax_in_place(thread t, const Cells& x, val<u32> n) {
  var largest(t, -std::numeric_limits<f32>::infinity());
  for (auto k : t.block_stride(n)) largest = max(largest, x[k]);
  val top = block_reduce(t, largest, maximum{});
  var sum(t, 0.0f);
  for (auto k : t.block_stride(n)) {
    val e = exp(x[k] - top);
    x[k] = e;
    sum += e;
  }
  val total = block_reduce(t, sum, plus{});
  for (auto k : t.block_stride(n)) x[k] = x[k] / total;
  t.barrier();
}

// One block for each row of queries: softmax(q k^T * scale) v, with all scores of the row in shared memory.
template <u32 Head, u32 MostKeys, u32 Threads>
inline constexpr auto attention_row =
    kernel<"attention_row_" + decimal<Head> + "_" + decimal<Threads>, Threads>(
        [](thread t, in<f32> q, in<f32> k, in<f32> v, out<f32> y, val<f32> scale, val<u32> keys) {
          shared<f32, MostKeys> scores(t);  // keys
          val row = t.let(block_idx_x());
          device_assert(t, keys <= MostKeys, "all scores of a row fit");
          for (auto j : t.block_stride(keys)) {
            var dot(t, 0.0f);
            for (auto d : t.range(0u, Head).template unroll<4>()) dot += q[row * Head + d] * k[j * Head + d];
            scores[j] = dot * scale;
          }
          t.barrier();
          softmax_in_place(t, scores, keys);
          for (auto d : t.block_stride(Head)) {
            var sum(t, 0.0f);
            for (auto j : t.range(0u, keys)) sum += scores[j] * v[j * Head + d];
            y[row * Head + d] = sum;
          }
        });

// --- a kernel over a type, a tile, a target and a function

template <dsl::scalar T, u32 Tile, ptx::target Target, auto Function>
inline constexpr auto map_tiles =
    kernel<"map_tiles_" + type_name<T> + "_" + decimal<Tile>, 64, kernel_options{.target = Target}>(
        [](thread t, in<T> x, out<T> y, val<u32> n) {
          val first = block_idx_x() * (64 * Tile) + thread_idx_x();
          const auto place = [&](u32 k) { return first + k * 64; };
          const auto tile = array_of<Tile>(
              [&](u32 k) { return t.let(select(place(k) < n, x[min(place(k), n - 1)], T{})); });
          for (u32 k = 0; k < Tile; ++k)
            if (auto inside = t.when(place(k) < n)) y[place(k)] = Function(tile[k]);
        });

inline constexpr auto square_plus_one = [](const auto& x) { return x * x + 1; };

// --- classes

// Mean and variance in one pass. Source: Welford, "Note on a method for calculating corrected sums of squares
// and products"; merged as in Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for
// computing sample variances".
class welford {
 public:
  constexpr explicit welford(thread t) : count_(t, 0.0f), mean_(t, 0.0f), m2_(t, 0.0f) {}

  template <class E>
  constexpr void add(const E& x) {
    count_ += 1.0f;
    val delta = x - mean_;
    mean_ += delta / count_;
    m2_ += delta * (x - mean_);
  }

  constexpr void merge(const val<f32>& count, const val<f32>& mean, const val<f32>& m2) {
    val total = count_ + count;
    val delta = mean - mean_;
    val share = select(total > 0.0f, count / max(total, 1.0f), 0.0f);
    mean_ += delta * share;
    m2_ += m2 + delta * delta * count_ * share;
    count_ = total;
  }

  constexpr void merge_warp() {
    for (u32 mask = 16; mask != 0; mask /= 2) {
      val count = shfl_xor(count_, mask);
      val mean = shfl_xor(mean_, mask);
      val m2 = shfl_xor(m2_, mask);
      merge(count, mean, m2);
    }
  }

  constexpr auto mean() const { return mean_.node(); }
  constexpr auto variance() const { return m2_ / count_; }

 private:
  var<f32> count_, mean_, m2_;
};

// A function makes the object; it is the same variable on every compiler.
constexpr welford statistics_of(thread t, in<f32> x, val<u32> n) {
  welford result(t);
  for (auto i : t.block_stride(n).unroll<2>()) result.add(x[i]);
  result.merge_warp();
  return result;
}

inline constexpr auto statistics = kernel<"statistics", 32>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  const welford all = statistics_of(t, x, n);
  if (auto first = t.when(thread_idx_x() == 0)) {
    y[0] = all.mean();
    y[1] = all.variance();
  }
});

// The last Size values of each thread, in shared memory.
template <u32 Size, u32 Threads>
class ring {
 public:
  constexpr explicit ring(thread t) : cells_(t), next_(t, 0u), thread_(t) {}

  template <class E>
  constexpr void push(const E& x) {
    val place = next_ % Size;
    cells_[place][thread_idx_x()] = x;
    next_ += 1;
  }
  constexpr val<i32> sum() const {
    var total(thread_, 0);
    val filled = min(next_, Size);
    for (auto k : thread_.range(0u, filled)) total += cells_[k][thread_idx_x()];
    return thread_.let(total);
  }

 private:
  shared<i32, Size, Threads> cells_;
  var<u32> next_;
  thread thread_;
};

inline constexpr auto moving_sums =
    kernel<"moving_sums", 32>([](thread t, in<i32> x, out<i32> y, val<u32> n) {
      ring<5, 32> last_five(t);
      for (auto k : t.range(0u, n)) {
        val i = k * 32 + thread_idx_x();
        last_five.push(x[i]);
        y[i] = last_five.sum();
      }
    });

// Variables in structs, arrays and arrays of arrays; copies are variables of their own.
struct span_of_values {
  var<i32> least, most;
  constexpr void add(const val<i32>& x) {
    least = min(least, x);
    most = max(most, x);
  }
};

constexpr span_of_values empty_span(thread t) {
  return {.least = var<i32>(t, 2147483647), .most = var<i32>(t, -2147483647)};
}

inline constexpr auto holders = kernel<"holders", 32>([](thread t, in<i32> x, out<i32> y, val<u32> n) {
  val i = t.global_id();
  auto spans = array_of<3>([&](u32) { return empty_span(t); });
  auto sums =
      array_of<2>([&](u32) { return array_of<2>([&](u32 k) { return var(t, static_cast<i32>(k)); }); });
  std::array<var<i32>, 2> counts{var<i32>(t, 0), var<i32>(t, 100)};
  for (auto k : t.range(0u, n).unroll<3>()) {
    val v = x[k * 32 + i];
    val part = cast<u32>(v) % 3;
    for (u32 s = 0; s < 3; ++s)
      if (auto mine = t.when(part == s)) spans[s].add(v);
    sums[0][1] += v;
    sums[1][0] -= v;
    for (auto& count : counts) count += 1;
  }
  span_of_values kept = spans[1];
  spans[1].most = -5;
  spans[2] = kept;
  kept.least += 1;
  var moved = counts[0];
  moved = counts[1];
  counts[1] = 7;
  u32 row = 0;
  const auto put = [&](const auto& e) { y[i + 32 * row++] = e; };
  for (u32 s = 0; s < 3; ++s) {
    put(spans[s].least);
    put(spans[s].most);
  }
  put(kept.least);
  put(kept.most);
  for (const auto& pair : sums)
    for (const auto& sum : pair) put(sum);
  for (const auto& count : counts) put(count);
  put(moved);
});
inline constexpr u32 holder_rows = 15;

}  // namespace kaio::tests
