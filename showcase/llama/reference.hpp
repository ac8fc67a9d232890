#pragma once
// The model in double precision on the host, from the values that the tensors decode to. Each row of a weight is decoded
// once for all tokens.

#include <kaio/weights/read_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tensors.hpp"

namespace kaio::showcase::llama {

class reference {
 public:
  using row = std::vector<double>;
  reference(const model_shape& s, const model_tensors& t) : s_(s), t_(t) {}

  // The logits after tokens `first` to the last one.
  std::vector<row> logits(const std::vector<i32>& tokens, std::size_t first) const {
    std::vector<row> x;
    for (const i32 token : tokens) {
      std::vector<f32> values(s_.hidden);
      read_values(*t_.embedding, values, static_cast<u64>(token) * s_.hidden);
      x.emplace_back(values.begin(), values.end());
    }
    for (const layer_tensors& l : t_.layers) {
      add(x, times(*l.o, attended(l, normed(x, *l.attention_norm))));
      const std::vector<row> h = normed(x, *l.ff_norm), up = times(*l.up, h);
      std::vector<row> gate = times(*l.gate, h);
      for (std::size_t i = 0; i < gate.size(); ++i)
        for (std::size_t j = 0; j < gate[i].size(); ++j)
          gate[i][j] = gate[i][j] / (1 + std::exp(-gate[i][j])) * up[i][j];
      add(x, times(*l.down, gate));
    }
    x.erase(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(first));
    return times(*t_.output, normed(x, *t_.norm));
  }

 private:
  static void add(std::vector<row>& x, const std::vector<row>& y) {
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j < x[i].size(); ++j) x[i][j] += y[i][j];
  }
  // x W^T, and the bias if there is one
  static std::vector<row> times(const tensor_entry& w, const std::vector<row>& x,
                                const tensor_entry* bias = nullptr) {
    const std::size_t n = w.shape[0], k = w.shape[1];
    std::vector<row> y(x.size(), row(n));
    const std::vector<f32> biases = bias != nullptr ? read_values(*bias) : std::vector<f32>(n);
    in_parallel(n, [&](std::size_t first, std::size_t last) {
      std::vector<f32> values(k);
      for (std::size_t r = first; r < last; ++r) {
        read_values(w, values, r * k);
        for (std::size_t i = 0; i < x.size(); ++i) {
          double sum = 0;
          for (std::size_t j = 0; j < k; ++j) sum += static_cast<double>(values[j]) * x[i][j];
          y[i][r] = sum + static_cast<double>(biases[r]);
        }
      }
    });
    return y;
  }
  // Parts of weight.size() elements are divided by their root mean square.
  std::vector<row> normed(std::vector<row> x, const tensor_entry& weight) const {
    const std::vector<f32> w = read_values(weight);
    for (row& one : x)
      for (std::size_t first = 0; first < one.size(); first += w.size()) {
        double squares = 0;
        for (std::size_t j = 0; j < w.size(); ++j) squares += one[first + j] * one[first + j];
        const double rms =
            std::sqrt(squares / static_cast<double>(w.size()) + static_cast<double>(s_.epsilon));
        for (std::size_t j = 0; j < w.size(); ++j) one[first + j] *= static_cast<double>(w[j]) / rms;
      }
    return x;
  }
  void rotate(std::vector<row>& x) const {
    const u32 half = s_.rotated / 2;
    for (std::size_t position = 0; position < x.size(); ++position)
      for (std::size_t head = 0; head < x[position].size(); head += s_.size)
        for (u32 i = 0; i < half; ++i) {
          const double angle = static_cast<double>(position) * s_.frequency(i);
          double& a = x[position][head + (s_.interleaved ? 2 * i : i)];
          double& b = x[position][head + (s_.interleaved ? 2 * i + 1 : i + half)];
          const double turned = a * std::cos(angle) - b * std::sin(angle);
          b = b * std::cos(angle) + a * std::sin(angle);
          a = turned;
        }
  }
  std::vector<row> attended(const layer_tensors& l, const std::vector<row>& h) const {
    std::vector<row> q = times(*l.q, h, l.q_bias), k = times(*l.k, h, l.k_bias);
    const std::vector<row> v = times(*l.v, h, l.v_bias);
    if (l.q_norm != nullptr) q = normed(std::move(q), *l.q_norm);
    if (l.k_norm != nullptr) k = normed(std::move(k), *l.k_norm);
    rotate(q);
    rotate(k);
    std::vector<row> o(h.size(), row(s_.queries()));
    for (std::size_t n = 0; n < h.size(); ++n)
      for (u32 head = 0; head < s_.heads; ++head) {
        const std::size_t own = std::size_t{head} * s_.size;
        const std::size_t group = std::size_t{head / (s_.heads / s_.key_heads)} * s_.size;
        row scores(n + 1);
        for (std::size_t j = 0; j <= n; ++j) {
          for (u32 e = 0; e < s_.size; ++e) scores[j] += q[n][own + e] * k[j][group + e];
          scores[j] /= std::sqrt(static_cast<double>(s_.size));
        }
        const double largest = *std::max_element(scores.begin(), scores.end());
        double total = 0;
        for (double& score : scores) total += score = std::exp(score - largest);
        for (std::size_t j = 0; j <= n; ++j)
          for (u32 e = 0; e < s_.size; ++e) o[n][own + e] += scores[j] / total * v[j][group + e];
      }
    return o;
  }

  const model_shape& s_;
  const model_tensors& t_;
};

// The device's logits and choices next to the reference's.
struct comparison {
  double error = 0;  // the largest |logit - exact|, relative to the largest |exact| of its position
  u32 positions = 0, equal = 0, undecided = 0;

  // undecided: another token was chosen, and its exact logit is below the largest by no more than two errors.
  void add(const std::vector<f32>& got, const std::vector<double>& exact, i32 chosen) {
    double difference = 0, largest = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double one = std::abs(static_cast<double>(got[i]) - exact[i]);
      difference = one <= difference ? difference
                   : std::isnan(one) ? std::numeric_limits<double>::infinity()
                                     : one;
      largest = std::max(largest, std::abs(exact[i]));
    }
    error = std::max(error, difference / std::max(largest, 1e-30));
    const double best = *std::max_element(exact.begin(), exact.end());
    const double own = exact[static_cast<std::size_t>(chosen)];
    ++positions;
    equal += own == best;
    undecided += own != best && best - own <= 2 * difference;
  }
  bool right(double bound, bool is_greedy) const {
    return error <= bound && (!is_greedy || equal + undecided == positions);
  }
};

}  // namespace kaio::showcase::llama
