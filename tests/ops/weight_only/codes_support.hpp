#pragma once
// Weights of four or eight bits whose codes come in bytes: codes, scales and factors on the host and packed on
// the device, and products of them compared with double precision.

#include "tests/ops/weight_only/support.hpp"

#include <kaio/ops/weight_only/common/codes.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace kaio::tests {

inline double number_of_e4m3(u32 byte) {
  const double m = (byte & 7) / 8.0, e = byte >> 3 & 15;
  const double size = e == 0 ? m * 0x1p-6 : (1 + m) * std::exp2(e - 7);
  return (byte & 0x80) != 0 ? -size : size;
}

// Codes of four bits, one to an element: [n][k].
struct byte_model {
  w4_shape shape;
  std::vector<u8> codes, scale_bytes;
  std::vector<f32> scales, factors;  // [n][group], [n]

  i64 n() const { return shape.n; }
  i64 k() const { return shape.k; }
  i64 groups() const { return shape.k / shape.group; }
  double number(u32 code) const {
    switch (shape.codes) {
      case w4_codes::nf4: return ops::nf4_numbers[code];
      case w4_codes::fp4: return ops::fp4_numbers[code];
      default: return ops::e2m1_numbers[code];
    }
  }
  double scale(i64 row, i64 group) const {
    const auto at = static_cast<std::size_t>(row * groups() + group);
    if (shape.scales == w4_scale_type::f32) return scales[at];
    if (shape.scales == w4_scale_type::e8m0) return std::exp2(static_cast<double>(scale_bytes[at]) - 127);
    return number_of_e4m3(scale_bytes[at]);
  }
  // In the order of the matmul's documentation, each product rounded to f32 where it is not exact.
  f32 weight(i64 row, i64 column) const {
    const u32 code = codes[static_cast<std::size_t>(row * k() + column)];
    f32 result = static_cast<f32>(number(code) * scale(row, column / shape.group));
    if (shape.factors) result *= factors[static_cast<std::size_t>(row)];
    return result;
  }
  static byte_model random(w4_codes codes_type, const w4_shape& in_shape, std::uint64_t seed) {
    byte_model m;
    m.shape = in_shape;
    m.shape.codes = codes_type;
    m.shape.scales = codes_type != w4_codes::e2m1 ? w4_scale_type::f32
                     : m.shape.group == 32        ? w4_scale_type::e8m0
                                                  : w4_scale_type::e4m3;
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(0.1f, 1.0f);
    m.codes.resize(static_cast<std::size_t>(m.n() * m.k()));
    for (u8& q : m.codes) q = static_cast<u8>(engine() % 16);
    for (i64 i = 0; i < m.n() * m.groups(); ++i) {
      m.scales.push_back(any(engine));
      m.scale_bytes.push_back(m.shape.scales == w4_scale_type::e8m0 ? static_cast<u8>(120 + engine() % 10)
                                                                    : static_cast<u8>(engine() % 127));
    }
    for (i64 i = 0; i < m.n(); ++i) m.factors.push_back(any(engine) / 64);
    return m;
  }
  // Two codes a byte.
  std::vector<u8> bytes() const {
    const bool high_first = shape.codes != w4_codes::e2m1;
    std::vector<u8> result(codes.size() / 2);
    for (std::size_t i = 0; i < codes.size(); ++i)
      result[i / 2] |= static_cast<u8>(codes[i] << ((i % 2 == 1) != high_first ? 4 : 0));
    return result;
  }
};

struct byte_weights {
  w4_shape shape;
  buffer<u8> memory;
  w4_weights weights() const { return {shape, memory}; }

  explicit byte_weights(const byte_model& m)
      : shape(m.shape), memory(under_test().upload(std::vector<u8>(packed_bytes(m.shape), 0xff))) {
    const stream& s = under_test().stream();
    const auto words = upload(m.bytes());
    const auto scale_bytes = upload(m.scale_bytes);
    const auto scales = upload(m.scales), factors = upload(m.factors);
    const i64 n = m.n(), groups = m.groups();
    const tensor_view<const u8, 2> codes(words, n, m.k() / 2), of_bytes(scale_bytes, n, groups);
    if (m.shape.scales == w4_scale_type::f32)
      repack(s, bitsandbytes_w4{.weight = codes, .absmax = tensor_view<const f32, 2>(scales, n, groups)},
             weights());
    else if (m.shape.scales == w4_scale_type::e8m0)
      repack(s, mxfp4_w4{.blocks = codes, .scales = of_bytes}, weights());
    else {
      nvfp4_w4 source{.weight = codes, .scales = of_bytes};
      if (m.shape.factors) source.tensor_scale = tensor_view<const f32, 1>(factors, extents(n));
      repack(s, source, weights());
    }
    s.synchronize();
  }
};

struct product_call {
  i64 m = 1, pad = 0, shift = 0;
  bool bias = false;
  std::uint64_t seed = 1;
  double rounded = 0;  // the largest relative error of a weight
};

// y = x W^T by run(x, y, bias) against double precision; nothing beyond y's elements is written.
template <class T, class Out, class Weight, class Run>
void check_w_product(const product_call& c, i64 n, i64 k, const Weight& weight, const Run& run) {
  CAPTURE(c.m, n, k, c.pad, c.shift, c.bias, c.seed);
  std::mt19937_64 engine(c.seed);
  std::uniform_real_distribution<float> any(-1, 1);
  const i64 x_row = k + c.pad, y_row = n + c.pad;
  std::vector<T> x(static_cast<std::size_t>(c.shift + (c.m - 1) * x_row + k));
  std::memset(static_cast<void*>(x.data()), 0xff, x.size() * sizeof(T));
  for (i64 r = 0; r < c.m; ++r)
    for (i64 i = 0; i < k; ++i) x[static_cast<std::size_t>(c.shift + r * x_row + i)] = T(any(engine));
  std::vector<T> bias;
  for (i64 i = 0; i < n; ++i) bias.push_back(T(any(engine)));
  std::vector<Out> y(static_cast<std::size_t>(c.shift + (c.m - 1) * y_row + n));
  std::memset(static_cast<void*>(y.data()), 0x5a, y.size() * sizeof(Out));
  const std::vector<Out> before = y;
  buffer<T> x_memory = upload(x), bias_memory = upload(bias);
  buffer<Out> y_memory = upload(y);
  const auto first = static_cast<std::size_t>(c.shift);
  const tensor_view<const T, 2> x_view(x_memory.slice(first, x.size() - first), extents(c.m, k),
                                       strides(x_row, i64{1}));
  const tensor_view<Out, 2> y_view(y_memory.slice(first, y.size() - first), extents(c.m, n),
                                   strides(y_row, i64{1}));
  ops::any_view of_bias;
  if (c.bias) of_bias = tensor_view<const T, 1>(bias_memory, extents(n));
  run(x_view, y_view, of_bias);
  y = y_memory.download();

  std::vector<bool> written(y.size(), false);
  for (i64 r = 0; r < c.m; ++r)
    for (i64 column = 0; column < n; ++column) {
      double exact = c.bias ? to_double(bias[static_cast<std::size_t>(column)]) : 0.0, all = std::abs(exact);
      for (i64 i = 0; i < k; ++i) {
        const double product = to_double(x[static_cast<std::size_t>(c.shift + r * x_row + i)]) *
                               static_cast<double>(weight(column, i));
        exact += product;
        all += std::abs(product);
      }
      const auto at = static_cast<std::size_t>(c.shift + r * y_row + column);
      written[at] = true;
      const double allowed = all * (0x1p-20 + c.rounded) + unit_in_last_place<Out>(exact) * 0.51;
      if (std::abs(to_double(y[at]) - exact) <= allowed) continue;
      CAPTURE(r, column, exact);
      REQUIRE(to_double(y[at]) == exact);
    }
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!written[i] && std::memcmp(&y[i], &before[i], sizeof(Out)) != 0)
      FAIL("a product wrote into the padding of its output");
}

}  // namespace kaio::tests
