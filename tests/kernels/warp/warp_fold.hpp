#pragma once
// The host's model of reductions and scans, and inputs for them.

#include "tests/kernels/support.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kaio::tests {

struct host_affine {
  u32 a, b;
  friend bool operator==(const host_affine&, const host_affine&) = default;
};
inline host_affine compose_on_host(const host_affine& first, const host_affine& then) {
  return {first.a * then.a, then.a * first.b + then.b};
}

// The values of neighbours are combined, then those of pairs of neighbours, and so on.
template <class V, class Op>
V tree_of(std::vector<V> v, const Op& op) {
  for (std::size_t delta = 1; delta < v.size(); delta *= 2)
    for (std::size_t i = 0; i + delta < v.size(); i += 2 * delta) v[i] = op(v[i], v[i + delta]);
  return v[0];
}

// The groups of `width` threads of a block; a group ends where its warp does.
template <class V>
std::vector<V> group_of(const std::vector<V>& v, std::size_t i, std::size_t width) {
  const std::size_t first = i / width * width;
  const auto at = [&](std::size_t k) { return v.begin() + static_cast<std::ptrdiff_t>(k); };
  return {at(first), at(std::min(v.size(), first + width))};
}

// The result of a block: a tree in each warp, and one over the warps.
template <class V, class Op>
V block_tree_of(const std::vector<V>& v, const Op& op) {
  std::vector<V> warps;
  for (std::size_t i = 0; i < v.size(); i += 32) warps.push_back(tree_of(group_of(v, i, 32), op));
  return tree_of(warps, op);
}

inline std::vector<u32> random_words(std::size_t count, u32 seed) {
  std::mt19937 engine(seed);
  std::vector<u32> words(count);
  for (u32& w : words) w = static_cast<u32>(engine());
  return words;
}

// Sizes differ widely, so that the order of a sum shows in its bits.
inline std::vector<f32> uneven_floats(std::size_t count) {
  std::mt19937 engine(11);
  std::vector<f32> x(count);
  for (f32& v : x)
    v = std::ldexp(static_cast<f32>(static_cast<i32>(engine())), static_cast<int>(engine() % 20) - 40);
  return x;
}

}  // namespace kaio::tests
