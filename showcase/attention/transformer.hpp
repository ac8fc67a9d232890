#pragma once
// The steps before attention in a transformer block: a text, one token a byte, becomes queries, keys and
// values. The weights are random, of the sizes that training begins with.
//
//   x = embedding[token];  h = x / rms(x);  q = rotate(Wq h, position);  k = rotate(Wk h, position);  v = Wv h
//
// Sources: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019; Su et al., "RoFormer: Enhanced
// Transformer with Rotary Position Embedding", 2021.

#include <kaio/showcase.hpp>

#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

namespace kaio::showcase {

// Charles Darwin, "On the Origin of Species", 1859: the last sentences.
inline constexpr std::string_view text =
    "It is interesting to contemplate an entangled bank, clothed with many plants of many kinds, with birds "
    "singing on the bushes, with various insects flitting about, and with worms crawling through the damp "
    "earth, and to reflect that these elaborately constructed forms, so different from each other, and "
    "dependent on each other in so complex a manner, have all been produced by laws acting around us. There "
    "is grandeur in this view of life, with its several powers, having been originally breathed into a few "
    "forms or into one; and that, whilst this planet has gone cycling on according to the fixed law of "
    "gravity, from so simple a beginning endless forms most beautiful and most wonderful have been, and are "
    "being, evolved. ";

// Rows of all heads, position after position: length x heads x size.
class transformer_block {
 public:
  // The text is repeated up to `length` tokens.
  transformer_block(u32 length, u32 size) : length_(length), size_(size) {
    const std::vector<f32> embedding = random_normal(tokens * width, 1);
    for (u32 t = 0; t < tokens; ++t) {
      double squares = 0;
      for (u32 i = 0; i < width; ++i) squares += double{embedding[t * width + i]} * embedding[t * width + i];
      const double rms = std::sqrt(squares / width);
      for (u32 i = 0; i < width; ++i) normed_.push_back(embedding[t * width + i] / static_cast<f32>(rms));
    }
  }
  std::vector<f16> queries(u32 heads) const { return project(heads, 2, true); }
  std::vector<f16> keys(u32 heads) const { return project(heads, 3, true); }
  std::vector<f16> values(u32 heads) const { return project(heads, 4, false); }

 private:
  static constexpr u32 tokens = 256, width = 128;

  std::vector<f16> project(u32 heads, unsigned seed, bool rotated) const {
    const std::size_t columns = std::size_t{heads} * size_;
    const std::vector<f32> weights = random_normal(columns * width, seed, 1 / std::sqrt(f32{width}));
    std::vector<f32> of_token(tokens * columns, 0.0f);
    for (u32 t = 0; t < tokens; ++t)
      for (std::size_t c = 0; c < columns; ++c)
        for (u32 i = 0; i < width; ++i)
          of_token[t * columns + c] += weights[c * width + i] * normed_[t * width + i];
    std::vector<f16> rows;
    rows.reserve(length_ * columns);
    for (u32 position = 0; position < length_; ++position) {
      const f32* const from = &of_token[static_cast<unsigned char>(text[position % text.size()]) * columns];
      for (std::size_t c = 0; c < columns; ++c)
        rows.push_back(f16(rotated ? rotate(from + c / size_ * size_, c % size_, position) : from[c]));
    }
    return rows;
  }
  // Element i of a head at a position: elements i and i + size / 2 are a pair, turned by an angle.
  f32 rotate(const f32* head, std::size_t i, u32 position) const {
    const std::size_t half = size_ / 2, pair = i % half;
    const f32 angle =
        static_cast<f32>(position) * std::pow(10000.0f, -static_cast<f32>(pair) / static_cast<f32>(half));
    const f32 sine = i < half ? -std::sin(angle) : std::sin(angle);
    return head[i] * std::cos(angle) + head[i < half ? i + half : pair] * sine;
  }

  u32 length_, size_;
  std::vector<f32> normed_;  // of each token
};

}  // namespace kaio::showcase
