#pragma once
// A tensor with an element for each score, (batches, heads, queries, keys) or the last ones of these
// dimensions, of any shape that is broadcast to them, in memory of any order. Elements outside of the view are poison.
#include "tests/ops/support.hpp"

#include <kaio/ops/attention.hpp>

#include <array>

namespace kaio::tests {

struct score_tensor_shape {
  u32 rank = 0;             // 0: there is none
  u32 ones = 0;             // bit d: dimension d of the four has extent 1
  u32 repeats = 0;          // bit d: it has stride 0
  bool keys_first = false;  // keys are the outermost dimension in memory, and there are gaps
  bool own_type = false;    // a bias: q's element type

  bool exists() const { return rank != 0; }
  // The coordinate of dimension d where a score has coordinate x.
  u32 at(u32 d, u32 x) const { return d < 4 - rank || ((ones | repeats) >> d & 1) != 0 ? 0 : x; }
  std::string text() const {
    return std::to_string(rank) + "/" + std::to_string(ones) + "/" + std::to_string(repeats) +
           (keys_first ? "k" : "") + (own_type ? "o" : "");
  }
};

// The values of bias and keep at a place. Each number is one of bf16; -inf is among them; some queries keep
// nothing.
inline double bias_at(u32 b, u32 h, u32 i, u32 j) {
  if ((i * 5 + j * 3 + h) % 13 == 0) return -std::numeric_limits<double>::infinity();
  return double((b * 7 + h * 5 + i * 3 + j) % 9) / 4 - 1;
}
inline bool keep_at(u32 b, u32 h, u32 i, u32 j) { return i % 7 != 3 && (b + h * 3 + i * 5 + j * 2) % 3 != 0; }

template <class T>
class score_tensor {
 public:
  // f(b, h, i, j) is the element at a place.
  template <class F>
  score_tensor(const score_tensor_shape& shape, const std::array<u32, 4>& scores, T poison, const F& f)
      : rank_(shape.rank) {
    std::array<i64, 4> extent{}, counted{};
    for (u32 d = 0; d < 4; ++d) {
      const bool before = d < 4 - shape.rank;
      extent[d] = before || (shape.ones >> d & 1) != 0 ? 1 : i64{scores[d]};
      counted[d] = (shape.repeats >> d & 1) != 0 ? 1 : extent[d];
    }
    const std::array<u32, 4> inner_first =
        shape.keys_first ? std::array<u32, 4>{1, 2, 0, 3} : std::array<u32, 4>{3, 2, 1, 0};
    std::array<i64, 4> stride{};
    i64 next = shape.keys_first ? 3 : 1;
    for (const u32 d : inner_first) {
      stride[d] = next;
      next *= std::max<i64>(counted[d], 1);
    }
    host_.assign(static_cast<std::size_t>(next) + 1, poison);
    for (u32 b = 0; b < counted[0]; ++b)
      for (u32 h = 0; h < counted[1]; ++h)
        for (u32 i = 0; i < counted[2]; ++i)
          for (u32 j = 0; j < counted[3]; ++j)
            host_[static_cast<std::size_t>(b * stride[0] + h * stride[1] + i * stride[2] + j * stride[3])] =
                f(b, h, i, j);
    memory_ = upload(host_);
    for (u32 d = 0; d < 4; ++d) {
      extents_[d] = extent[d];
      strides_[d] = (shape.repeats >> d & 1) != 0 ? 0 : stride[d];
    }
  }
  // As Option takes it: ops::attention_bias or ops::attention_keep.
  template <class Option>
  Option view() {
    const auto& e = extents_;
    const auto& s = strides_;
    switch (rank_) {
      case 1: return tensor_view<const T, 1>(memory_, extents(e[3]), strides(s[3]));
      case 2: return tensor_view<const T, 2>(memory_, extents(e[2], e[3]), strides(s[2], s[3]));
      case 3: return tensor_view<const T, 3>(memory_, extents(e[1], e[2], e[3]), strides(s[1], s[2], s[3]));
      default:
        return tensor_view<const T, 4>(memory_, extents(e[0], e[1], e[2], e[3]),
                                       strides(s[0], s[1], s[2], s[3]));
    }
  }

 private:
  u32 rank_;
  std::vector<T> host_;
  buffer<T> memory_;
  std::array<i64, 4> extents_{}, strides_{};
};

}  // namespace kaio::tests
