#pragma once
// Tensors of any strides for the tests of elementwise, copy and activations: memory with gaps of a pattern,
// views of its part, and the elements by their coordinates.

#include "tests/ops/refusal.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/shared/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace kaio::tests {

// Rank dimensions whose strides have the order `order`, the outermost first, and gaps of `pad` elements at
// the end of each; `shift` elements come first.
template <class T, std::size_t Rank>
struct strided_tensor {
  std::array<i64, Rank> extents{}, strides{};
  i64 shift = 0;
  std::vector<T> host;

  strided_tensor(const std::array<i64, Rank>& in_extents, const std::array<u32, Rank>& order, i64 pad = 0,
                 i64 in_shift = 0)
      : extents(in_extents), shift(in_shift) {
    i64 next = 1;
    for (std::size_t k = Rank; k-- > 0;) {
      strides[order[k]] = next;
      next = next * std::max<i64>(extents[order[k]], 1) + pad;
    }
    host.resize(static_cast<std::size_t>(next + shift));
    std::memset(static_cast<void*>(host.data()), 0x7b, host.size() * sizeof(T));
  }
  static std::array<u32, Rank> row_major() {
    std::array<u32, Rank> order{};
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }
  explicit strided_tensor(const std::array<i64, Rank>& in_extents)
      : strided_tensor(in_extents, row_major()) {}

  // Sets dimension `d` to one element that is repeated.
  void repeat(std::size_t d) { strides[d] = 0; }

  std::size_t index(const std::array<i64, Rank>& at) const {
    i64 result = shift;
    for (std::size_t d = 0; d < Rank; ++d) result += at[d] * strides[d];
    return static_cast<std::size_t>(result);
  }
  T& at(const std::array<i64, Rank>& place) { return host[index(place)]; }
  const T& at(const std::array<i64, Rank>& place) const { return host[index(place)]; }

  template <class F>
  void each(const F& f) const {
    std::array<i64, Rank> place{};
    for (const i64 e : extents)
      if (e == 0) return;
    while (true) {
      f(place);
      std::size_t d = Rank;
      while (d-- > 0) {
        if (++place[d] < extents[d]) break;
        place[d] = 0;
        if (d == 0) return;
      }
    }
  }
  strided_tensor& fill(std::uint64_t seed, float size = 4) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(-size, size);
    each([&](const std::array<i64, Rank>& place) {
      if constexpr (std::is_integral_v<T>)
        at(place) = static_cast<T>(engine());
      else if constexpr (std::is_same_v<T, double>)
        at(place) = static_cast<double>(any(engine)) * 1.0000000001;
      else
        at(place) = from_float<T>(any(engine));
    });
    return *this;
  }
  template <class U = T>
  tensor_view<U, Rank> view(buffer<T>& memory) const {
    return view_of<U>(memory, std::make_index_sequence<Rank>());
  }

 private:
  template <class U, std::size_t... D>
  tensor_view<U, Rank> view_of(buffer<T>& memory, std::index_sequence<D...>) const {
    const auto from = static_cast<std::size_t>(shift);
    return tensor_view<U, Rank>(memory.slice(from, memory.size() - from), kaio::extents<Rank>(extents[D]...),
                                kaio::strides<Rank>(strides[D]...));
  }
};

template <class T>
bool same_memory(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace kaio::tests
