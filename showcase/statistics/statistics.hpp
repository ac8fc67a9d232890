#pragma once
// Mean and variance of each row of a matrix in one pass, as LayerNorm needs them, without the cancellation
// that a sum of squares suffers. A block reduces a struct of the author's own, with an operator of the
// author's own.
//
// Source: Welford, "Note on a method for calculating corrected sums of squares and products" (1962); the
// combination of two parts: Chan, Golub and LeVeque (1979).

#include <kaio/dsl/dsl.hpp>

namespace kaio::showcase {

// The moments of a part of the data: device values in a plain struct.
struct moments {
  val<f32> count, mean, squares;  // squares: the sum of (x - mean)^2
};

// The moments of two parts together.
inline constexpr auto combine = [](const moments& a, const moments& b) {
  val count = a.count + b.count;
  val distance = b.mean - a.mean;
  val share = select(count > 0.0f, b.count / count, 0.0f);
  return moments{count, a.mean + distance * share,
                 a.squares + b.squares + distance * distance * a.count * share};
};

// Gathers the moments of the values that one thread reads.
class accumulator {
 public:
  constexpr explicit accumulator(thread t) : count_(t, 0.0f), mean_(t, 0.0f), squares_(t, 0.0f) {}

  constexpr void add(const val<f32>& x) {
    count_ += 1.0f;
    val distance = x - mean_;
    mean_ += distance / count_;
    squares_ += distance * (x - mean_);
  }
  constexpr moments result() const { return {count_, mean_, squares_}; }

 private:
  var<f32> count_, mean_, squares_;
};

// T: the element type of the matrix, f32, f16 or bf16.
template <class T>
inline constexpr auto row_statistics = kernel<"row_statistics_" + type_name<T>, 256>(
    [](thread t, in<T> x, out<f32> mean, out<f32> variance, val<u32> columns) {
      val row = t.let(block_idx_x());
      val first = cast<u64>(row) * cast<u64>(columns);
      accumulator mine(t);
      for (auto c : t.range(t.thread_rank(), columns, 256)) mine.add(cast<f32>(x[first + cast<u64>(c)]));
      const moments all = block_reduce(t, mine.result(), combine);
      if (auto one = t.when(t.thread_rank() == 0)) {
        mean[row] = all.mean;
        variance[row] = all.squares / all.count;
      }
    });

}  // namespace kaio::showcase
