#pragma once
// Tensors of (batch, token, head, element) for the tests of caches: any order of dimensions in memory,
// padding after rows, rows that begin anywhere. Padding of inputs holds NaN, outputs a pattern; whole buffers
// are compared, bit by bit, so that a write to a place that has none shows.

#include "tests/ops/support.hpp"

#include <kaio/ops/shared/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace kaio::tests {

struct tensor_layout {
  bool heads_first = false;  // (batch, head, token, element) in memory
  u32 pad = 0;               // elements after each row
  u32 shift = 0;             // elements before the first one
};

template <class T>
struct cache_tensor {
  std::array<i64, 4> extents{}, strides{};
  u32 shift = 0;
  std::vector<T> host;

  cache_tensor() = default;
  cache_tensor(i64 b, i64 r, i64 h, i64 d, const tensor_layout& layout = {}, unsigned char pattern = 0x5a)
      : extents{b, r, h, d}, shift(layout.shift) {
    const i64 line = d + layout.pad;
    strides = {line * r * h, layout.heads_first ? line : line * h, layout.heads_first ? line * r : line, 1};
    host.resize(static_cast<std::size_t>(line * r * h * b) + shift);
    if (!host.empty()) std::memset(static_cast<void*>(host.data()), pattern, host.size() * sizeof(T));
  }
  std::size_t index(i64 b, i64 r, i64 h, i64 e) const {
    return static_cast<std::size_t>(shift + b * strides[0] + r * strides[1] + h * strides[2] + e);
  }
  T& at(i64 b, i64 r, i64 h, i64 e) { return host[index(b, r, h, e)]; }
  const T& at(i64 b, i64 r, i64 h, i64 e) const { return host[index(b, r, h, e)]; }
  template <class F>
  void for_each(const F& f) {
    for (i64 b = 0; b < extents[0]; ++b)
      for (i64 r = 0; r < extents[1]; ++r)
        for (i64 h = 0; h < extents[2]; ++h)
          for (i64 e = 0; e < extents[3]; ++e) f(at(b, r, h, e));
  }
  cache_tensor& fill(std::uint64_t seed, float range = 2) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(-range, range);
    for_each([&](T& x) { x = from_float<T>(any(engine)); });
    return *this;
  }
  template <class U = T>
  tensor_view<U, 4> view(buffer<T>& memory) const {
    return tensor_view<U, 4>(memory.slice(shift, memory.size() - shift),
                             kaio::extents(extents[0], extents[1], extents[2], extents[3]),
                             kaio::strides(strides[0], strides[1], strides[2], strides[3]));
  }
  // A view of one batch: (tokens, heads, elements).
  template <class U = T>
  tensor_view<U, 3> packed(buffer<T>& memory) const {
    return tensor_view<U, 3>(memory.slice(shift, memory.size() - shift),
                             kaio::extents(extents[1], extents[2], extents[3]),
                             kaio::strides(strides[1], strides[2], strides[3]));
  }
};

// An input: its padding holds NaN.
template <class T>
cache_tensor<T> input_tensor(i64 b, i64 r, i64 h, i64 d, const tensor_layout& layout, std::uint64_t seed,
                             float range = 2) {
  return cache_tensor<T>(b, r, h, d, layout, 0xff).fill(seed, range);
}

// Equal bit by bit; any two NaNs are equal.
template <class T>
void require_same(const std::vector<T>& got, const std::vector<T>& want) {
  if (want.empty()) return;  // on the device it has one element, to have an address
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) == 0) continue;
    const double x = to_double(got[i]), y = to_double(want[i]);
    CAPTURE(i, x, y);
    REQUIRE((std::isnan(x) && std::isnan(y)));
  }
}

// Tables of cos and sin, rows of them padded.
template <class T>
struct host_tables {
  u32 rows, pairs, pitch;
  std::vector<T> cos, sin;

  host_tables(u32 in_rows, u32 in_pairs, u32 pad, std::uint64_t seed)
      : rows(in_rows), pairs(in_pairs), pitch(in_pairs + pad), cos(rows * pitch + 1), sin(rows * pitch + 1) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> angle(-3.2f, 3.2f);
    for (std::size_t i = 0; i < cos.size(); ++i) {
      const float a = angle(engine);
      cos[i] = from_float<T>(std::cos(a));
      sin[i] = from_float<T>(std::sin(a));
    }
  }
  tensor_view<const T, 2> view(buffer<T>& memory) const {
    return {memory, kaio::extents(rows, pairs), kaio::strides(pitch, 1)};
  }
};

// One row of x, in place: f32, rounded once.
template <class T, class Of>
void rotate_on_host(T* x, const host_tables<Of>& tables, i64 position, bool interleaved, bool inverse) {
  for (u32 i = 0; i < tables.pairs; ++i) {
    const std::size_t at = static_cast<std::size_t>(position) * tables.pitch + i;
    const bool known = position >= 0 && position < tables.rows;
    const float none = std::numeric_limits<float>::quiet_NaN();
    const float c = known ? static_cast<float>(to_double(tables.cos[at])) : none;
    float s = known ? static_cast<float>(to_double(tables.sin[at])) : none;
    if (inverse) s = -s;
    T& x0 = x[interleaved ? 2 * i : i];
    T& x1 = x[interleaved ? 2 * i + 1 : i + tables.pairs];
    const float a = static_cast<float>(to_double(x0)), b = static_cast<float>(to_double(x1));
    x0 = from_float<T>(std::fma(a, c, -(b * s)));
    x1 = from_float<T>(std::fma(b, c, a * s));
  }
}

inline tensor_view<const i32, 1> numbers_view(buffer<i32>& memory, i64 count) {
  return {memory, kaio::extents(count)};
}

}  // namespace kaio::tests
