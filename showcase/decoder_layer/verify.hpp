#pragma once
// Every step of a layer next to double precision, from what the step before it has left on the device.

#include "layer.hpp"

#include <kaio/showcase.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace kaio::showcase {

class layer_verification {
 public:
  explicit layer_verification(const decoder_layer& layer) : layer_(layer), shape_(layer.shape) {}

  // Prints a line for each step; whether all of them are right.
  bool run() {
    // For more than 128 rows weights of four bits may be rounded to f16.
    const double more = shape_.four_bits && shape_.tokens > 128 ? 2 : 1;
    load();
    step("h1 = h0 + x", 0, [&](auto& e) { sums(e, h0_, x_, h1_); });
    n1_ = norm(h1_, layer_.first_norm);
    // A rotation can cancel most of two rounded numbers.
    step("q = rotated norm(h1) Wq", 2e-2, [&](auto& e) { queries(e); });
    step("k, v into the cache", 2e-2, [&](auto& e) { keys_and_values(e); });
    step("the rest of the cache", 0, [&](auto& e) { other_pages(e); });
    step("o = attention(q, cache)", 5e-3, [&](auto& e) { attention(e); });
    step("a = o Wo", more * 2e-3, [&](auto& e) { products(e, o_, layer_.out, a_); });
    step("h2 = h1 + a", 0, [&](auto& e) { sums(e, h1_, a_, h2_); });
    n2_ = norm(h2_, layer_.second_norm);
    step("g = silu(n2 Wg) (n2 Wu)", more * 3e-3, [&](auto& e) { gates(e); });
    step("d = g Wd", more * 2e-3, [&](auto& e) { products(e, g_, layer_.down, d_); });
    return right_;
  }

 private:
  template <class Check>
  void step(const char* name, double bound, const Check& check) {
    largest_error error(0.1);
    compared_ = 0;
    check(error);
    const bool right = error.value() <= bound && compared_ != 0;
    right_ = right_ && right;
    std::printf("  %-24s largest error %.2e of %6u elements (bound %.0e)  %s\n", name, error.value(),
                compared_, bound, right ? "right" : "WRONG");
  }
  void compare(largest_error& error, f16 got, double want) {
    error.compare(number(got), want);
    ++compared_;
  }
  static double number(f16 x) { return static_cast<double>(f32(x)); }
  static f16 rounded(double x) { return f16(static_cast<f32>(x)); }

  // f(row, column) for all elements of a small matrix, or for 512 that are spread over a larger one.
  template <class F>
  static void for_samples(u32 rows, u32 columns, const F& f) {
    if (u64{rows} * columns <= 8192) {
      for (u32 row = 0; row < rows; ++row)
        for (u32 column = 0; column < columns; ++column) f(row, column);
      return;
    }
    random_bits bits(99);
    for (u32 i = 0; i < 512; ++i) {
      const u64 both = bits.next();
      f(static_cast<u32>(both % rows), static_cast<u32>((both >> 32) % columns));
    }
  }

  void load() {
    h0_ = layer_.h0.download();
    x_ = layer_.x.download();
    h1_ = layer_.h1.download();
    q_ = layer_.q.download();
    keys_ = layer_.on_keys.download();
    values_ = layer_.on_values.download();
    o_ = layer_.o.download();
    a_ = layer_.a.download();
    h2_ = layer_.h2.download();
    g_ = layer_.g.download();
    d_ = layer_.d.download();
  }

  // The bits of the sum, rounded once.
  void sums(largest_error& error, const std::vector<f16>& a, const std::vector<f16>& b,
            const std::vector<f16>& got) {
    for (std::size_t i = 0; i < got.size(); ++i)
      compare(error, got[i], number(rounded(number(a[i]) + number(b[i]))));
  }
  // The inputs of the products: rounded, as on the device.
  std::vector<f16> norm(const std::vector<f16>& h, const std::vector<f16>& weight) const {
    std::vector<f16> result(h.size());
    for (u32 row = 0; row < shape_.tokens; ++row) {
      const std::size_t first = std::size_t{row} * shape_.hidden;
      double squares = 0;
      for (u32 i = 0; i < shape_.hidden; ++i) squares += number(h[first + i]) * number(h[first + i]);
      const double rms = std::sqrt(squares / shape_.hidden + double{decoder_layer::epsilon});
      for (u32 i = 0; i < shape_.hidden; ++i)
        result[first + i] = rounded(number(h[first + i]) / rms * number(weight[i]));
    }
    return result;
  }
  static double product(const std::vector<f16>& x, const linear& w, u32 row, u32 column) {
    double sum = 0;
    for (u32 i = 0; i < w.k(); ++i) sum += number(x[std::size_t{row} * w.k() + i]) * w.weight(column, i);
    return sum;
  }
  void products(largest_error& error, const std::vector<f16>& x, const linear& w,
                const std::vector<f16>& got) {
    for_samples(shape_.tokens, w.n(), [&](u32 row, u32 column) {
      compare(error, got[std::size_t{row} * w.n() + column], product(x, w, row, column));
    });
  }
  // Column `column` of a head that is rotated: heads begin at multiples of the size.
  double rotated(u32 row, u32 column) const {
    const u32 half = shape_.size / 2, e = column % shape_.size, pair = e % half;
    const double angle =
        (shape_.before + row) * std::pow(double{decoder_layer::base}, -static_cast<double>(pair) / half);
    const double own = number(rounded(product(n1_, layer_.qkv, row, column)));
    const double other =
        number(rounded(product(n1_, layer_.qkv, row, e < half ? column + half : column - half)));
    return own * std::cos(angle) + (e < half ? -other : other) * std::sin(angle);
  }
  void queries(largest_error& error) {
    for_samples(shape_.tokens, shape_.queries(), [&](u32 row, u32 column) {
      compare(error, q_[std::size_t{row} * shape_.queries() + column], rotated(row, column));
    });
  }
  // Where key `key` is in the pages.
  std::size_t place(u32 key) const {
    const auto page = static_cast<std::size_t>(layer_.table[key / decoder_layer::page_rows]);
    return (page * decoder_layer::page_rows + key % decoder_layer::page_rows) * shape_.keys();
  }
  void keys_and_values(largest_error& error) {
    for_samples(shape_.tokens, shape_.keys(), [&](u32 row, u32 column) {
      const std::size_t at = place(shape_.before + row) + column;
      compare(error, keys_[at], rotated(row, shape_.queries() + column));
      compare(error, values_[at], product(n1_, layer_.qkv, row, shape_.queries() + shape_.keys() + column));
    });
  }
  // Keys and values that are not new keep their bits.
  void other_pages(largest_error& error) {
    std::vector<bool> is_new(keys_.size(), false);
    for (u32 row = 0; row < shape_.tokens; ++row) {
      const auto first = is_new.begin() + static_cast<std::ptrdiff_t>(place(shape_.before + row));
      std::fill(first, first + shape_.keys(), true);
    }
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (is_new[i]) continue;
      compare(error, keys_[i], number(layer_.keys[i]));
      compare(error, values_[i], number(layer_.values[i]));
    }
  }
  void attention(largest_error& error) {
    const auto check = [&](u32 row, u32 head) {
      const u32 size = shape_.size, group = head / (shape_.heads / shape_.key_heads);
      const std::size_t own = std::size_t{row} * shape_.queries() + head * size;
      std::vector<double> sum(size, 0.0);
      double total = 0;
      for (u32 key = 0; key <= shape_.before + row; ++key) {
        const std::size_t at = place(key) + group * size;
        double score = 0;
        for (u32 e = 0; e < size; ++e) score += number(q_[own + e]) * number(keys_[at + e]);
        const double weight = std::exp(score / std::sqrt(static_cast<double>(size)));
        total += weight;
        for (u32 e = 0; e < size; ++e) sum[e] += weight * number(values_[at + e]);
      }
      for (u32 e = 0; e < size; ++e) compare(error, o_[own + e], sum[e] / total);
    };
    random_bits bits(98);
    for (u32 i = 0; i < 64; ++i) {
      const u64 both = bits.next();
      check(static_cast<u32>(both % shape_.tokens), static_cast<u32>((both >> 32) % shape_.heads));
    }
  }
  void gates(largest_error& error) {
    for_samples(shape_.tokens, shape_.ff, [&](u32 row, u32 column) {
      const double gate = product(n2_, layer_.gate_up, row, column);
      const double up = product(n2_, layer_.gate_up, row, shape_.ff + column);
      compare(error, g_[std::size_t{row} * shape_.ff + column], gate / (1 + std::exp(-gate)) * up);
    });
  }

  const decoder_layer& layer_;
  const layer_shape& shape_;
  u32 compared_ = 0;
  bool right_ = true;
  std::vector<f16> h0_, x_, h1_, n1_, q_, keys_, values_, o_, a_, h2_, n2_, g_, d_;
};

}  // namespace kaio::showcase
