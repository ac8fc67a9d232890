#pragma once
// A language model of two layers with random weights, and its logits in double precision on the host.

#include <kaio/kaio.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "kernels.hpp"

namespace kaio::showcase::generation {

// (out, in), of a deviation that keeps the scale of what it multiplies
struct weight {
  u32 rows, columns;
  std::vector<f16> host;
  buffer<f16> memory;

  weight(const device& gpu, u32 out, u32 in, u32 seed) : rows(out), columns(in), host(std::size_t{out} * in) {
    std::mt19937 engine(seed);
    std::normal_distribution<f32> normal(0.0f, 1 / std::sqrt(static_cast<f32>(in)));
    for (f16& e : host) e = f16(normal(engine));
    memory = gpu.upload(host);
  }
  double at(std::size_t r, std::size_t c) const { return double{f32(host[r * columns + c])}; }
  tensor_view<const f16, 2> transposed() const {
    return tensor_view<const f16, 2>(memory, rows, columns).transposed();
  }
  std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y(rows, 0.0);
    for (u32 r = 0; r < rows; ++r)
      for (u32 c = 0; c < columns; ++c) y[r] += at(r, c) * x[c];
    return y;
  }
};

struct layer {
  weight q, k, v, o, up, down;
  layer(const device& gpu, u32 seed)
      : q(gpu, heads * size, hidden, seed),
        k(gpu, key_heads * size, hidden, seed + 1),
        v(gpu, key_heads * size, hidden, seed + 2),
        o(gpu, hidden, heads * size, seed + 3),
        up(gpu, inner, hidden, seed + 4),
        down(gpu, hidden, inner, seed + 5) {}
};

struct model {
  weight embedding;
  std::array<layer, layers> of;
  explicit model(const device& gpu)
      : embedding(gpu, vocabulary, hidden, 1), of{layer(gpu, 10), layer(gpu, 20)} {}
};

inline std::vector<double> normed(const std::vector<double>& x) {
  double squares = 0;
  for (const double e : x) squares += e * e;
  std::vector<double> y = x;
  for (double& e : y) e /= std::sqrt(squares / hidden + double{epsilon});
  return y;
}

inline void rotate(std::vector<double>& x, std::size_t position) {
  for (std::size_t first = 0; first < x.size(); first += size)
    for (u32 i = 0; i < size / 2; ++i) {
      const double angle = static_cast<double>(position) * std::pow(10000.0, -2.0 * i / size);
      double &a = x[first + i], &b = x[first + size / 2 + i];
      const double turned = a * std::cos(angle) - b * std::sin(angle);
      b = b * std::cos(angle) + a * std::sin(angle);
      a = turned;
    }
}

// The logits after the last of some tokens.
inline std::vector<double> exact_logits(const model& m, const std::vector<i32>& tokens) {
  std::array<std::vector<std::vector<double>>, layers> keys, values;
  std::vector<double> x;
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    x.clear();
    for (u32 i = 0; i < hidden; ++i) x.push_back(m.embedding.at(static_cast<std::size_t>(tokens[n]), i));
    for (u32 l = 0; l < layers; ++l) {
      const std::vector<double> h = normed(x);
      std::vector<double> q = m.of[l].q.times(h), k = m.of[l].k.times(h);
      rotate(q, n);
      rotate(k, n);
      keys[l].push_back(k);
      values[l].push_back(m.of[l].v.times(h));
      std::vector<double> o(heads * size, 0.0);
      for (u32 a = 0; a < heads; ++a) {
        const std::size_t own = std::size_t{a} * size, group = std::size_t{a / (heads / key_heads)} * size;
        double total = 0;
        for (std::size_t j = 0; j <= n; ++j) {
          double dot = 0;
          for (u32 i = 0; i < size; ++i) dot += q[own + i] * keys[l][j][group + i];
          const double share = std::exp(dot / std::sqrt(double{size}));
          total += share;
          for (u32 i = 0; i < size; ++i) o[own + i] += share * values[l][j][group + i];
        }
        for (u32 i = 0; i < size; ++i) o[own + i] /= total;
      }
      const std::vector<double> attended = m.of[l].o.times(o);
      for (u32 i = 0; i < hidden; ++i) x[i] += attended[i];
      std::vector<double> wide = m.of[l].up.times(normed(x));
      for (double& e : wide) e = std::max(e, 0.0);
      const std::vector<double> narrow = m.of[l].down.times(wide);
      for (u32 i = 0; i < hidden; ++i) x[i] += narrow[i];
    }
  }
  return m.embedding.times(normed(x));
}

// The largest difference of logits from exact ones, relative to the largest of these.
inline double error_of_logits(const model& m, const std::vector<i32>& tokens, const f32* logits) {
  const std::vector<double> exact = exact_logits(m, tokens);
  double worst = 0, largest = 0;
  for (u32 i = 0; i < vocabulary; ++i) {
    const double difference = std::abs(double{logits[i]} - exact[i]);
    worst = difference <= worst ? worst : difference;  // NaN too
    largest = std::max(largest, std::abs(exact[i]));
  }
  return worst / largest;
}

}  // namespace kaio::showcase::generation
