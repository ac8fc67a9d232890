#pragma once
// Tensors of any rank, order in memory and padding, for the tests of reduce, scan, histogram and embedding.
// Padding of inputs holds NaN or a large number, padding of outputs a pattern.

#include "tests/ops/support.hpp"

#include <kaio/ops/shared/tensor_view.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace kaio::tests {

template <class T, std::size_t Rank>
struct strided_tensor {
  std::array<i64, Rank> extents{}, strides{};
  std::vector<T> host;

  // `order`: the dimensions from the outermost in memory to the innermost. `pad` elements follow each line.
  strided_tensor(const std::array<i64, Rank>& e, const std::array<std::size_t, Rank>& order, i64 pad,
                 unsigned char pattern)
      : extents(e) {
    i64 stride = 1;
    for (std::size_t i = Rank; i-- > 0;) {
      strides[order[i]] = stride;
      stride *= std::max<i64>(e[order[i]], 1);
      if (i == Rank - 1) stride += pad;
    }
    host.resize(static_cast<std::size_t>(stride));
    std::memset(static_cast<void*>(host.data()), pattern, host.size() * sizeof(T));
  }
  static std::array<std::size_t, Rank> row_major() {
    std::array<std::size_t, Rank> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }
  std::size_t at(const std::array<i64, Rank>& index) const {
    i64 offset = 0;
    for (std::size_t d = 0; d < Rank; ++d) offset += index[d] * strides[d];
    return static_cast<std::size_t>(offset);
  }
  // Calls f(index) for each index, the last dimension fastest.
  template <class F>
  void each(const F& f) const {
    for (const i64 extent : extents)
      if (extent == 0) return;
    std::array<i64, Rank> index{};
    for (;;) {
      f(index);
      std::size_t d = Rank;
      while (d > 0 && ++index[d - 1] == extents[d - 1]) index[--d] = 0;
      if (d == 0) return;
    }
  }
  template <class U = T>
  tensor_view<U, Rank> view(buffer<T>& memory) const {
    const auto make = [&]<std::size_t... D>(std::index_sequence<D...>) {
      return tensor_view<U, Rank>(memory.view(), kaio::extents<Rank>(extents[D]...),
                                  kaio::strides<Rank>(strides[D]...));
    };
    return make(std::make_index_sequence<Rank>());
  }
};

template <class T>
T any_number(std::mt19937_64& engine) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::uniform_int_distribution<int>(0, 100)(engine));
  else if constexpr (std::is_same_v<T, f64>)
    return std::uniform_real_distribution<double>(-1, 1)(engine);
  else
    return from_float<T>(std::uniform_real_distribution<float>(-1, 1)(engine));
}

// The distance between numbers of T at x.
template <class T>
double spacing(double x) {
  const int digits = std::is_same_v<T, bf16>  ? 8
                     : std::is_same_v<T, f16> ? 11
                     : std::is_same_v<T, f64> ? 53
                                              : 24;
  return x == 0 ? 0x1p-24 : std::max(std::ldexp(1.0, std::ilogb(x) + 1 - digits), 0x1p-24);
}

}  // namespace kaio::tests
