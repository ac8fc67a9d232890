#pragma once
// Calls of ops::matmul on matrices of the host, compared with the host.

#include <kaio/ops/matmul.hpp>

#include "tests/ops/support.hpp"

#include <cmath>
#include <optional>
#include <string>

namespace kaio::tests {

// The views of matrices in a buffer; with one batch of two dimensions.
template <class T>
tensor_view<T, 2> view_of(buffer<std::remove_const_t<T>>& memory, const matrices<std::remove_const_t<T>>& x) {
  const auto leading = static_cast<std::int64_t>(x.leading);
  if (x.by_columns) return {memory, extents(x.rows, x.columns), strides(std::int64_t{1}, leading)};
  return {memory, extents(x.rows, x.columns), strides(leading, std::int64_t{1})};
}
template <class T>
tensor_view<T, 3> batch_of(buffer<std::remove_const_t<T>>& memory,
                           const matrices<std::remove_const_t<T>>& x) {
  const auto leading = static_cast<std::int64_t>(x.leading), stride = static_cast<std::int64_t>(x.stride);
  if (x.by_columns)
    return {memory, extents(x.batches, x.rows, x.columns), strides(stride, std::int64_t{1}, leading)};
  return {memory, extents(x.batches, x.rows, x.columns), strides(stride, leading, std::int64_t{1})};
}

// The options of a product.
struct shape {
  u32 batches, m, n, k;
};
struct layout {
  bool a_by_columns = false, b_by_columns = false, c_by_columns = false;
  u32 a_pad = 0, b_pad = 0, c_pad = 0;
};

inline std::string name_of(const shape& s) {
  return std::to_string(s.batches) + " x " + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
         std::to_string(s.k);
}

// Padding that makes lines of `length` elements begin at multiples of 16 bytes.
template <class T>
u32 pad_to_16(u32 length) {
  constexpr u32 of = 16 / sizeof(T);
  return (of - length % of) % of;
}

// The epilogue on the host, in the type of x.
struct host_epilogue {
  double alpha = 1, beta = 0;
  matmul_activation activation = matmul_activation::none;
  std::vector<float> bias{};
  bool bias_of_rows = false;

  template <class X>
  static X activate(X x, matmul_activation a) {
    switch (a) {
      case matmul_activation::none: return x;
      case matmul_activation::relu: return x < 0 ? X(0) : x;
      case matmul_activation::gelu: return X(0.5) * x * (X(1) + std::erf(x * X(0.70710678118654752440)));
      case matmul_activation::gelu_tanh:
        return X(0.5) * x * (X(1) + std::tanh(X(0.79788456080286535588) * (x + X(0.044715) * x * x * x)));
      case matmul_activation::silu: return x / (X(1) + std::exp(-x));
    }
    return x;
  }
  template <class X>
  X apply(X x, double c, double residual, u32 row, u32 column) const {
    X y = X(alpha) * x;
    if (beta != 0) y += X(beta) * X(c);
    if (!bias.empty()) y += X(bias[bias_of_rows ? row : column]);
    return activate(y, activation) + X(residual);
  }
};

// Runs C = epilogue(A * B) and compares; returns the bits of C.
template <class T, class Out>
std::vector<Out> check_matmul(const shape& s, const layout& l, content what,
                              const host_epilogue& epilogue = {}, bool with_residual = false,
                              matmul_options options = {}, std::uint64_t seed = 7) {
  CAPTURE(name_of(s), l.a_by_columns, l.b_by_columns, l.c_by_columns, options.variant);
  matrices<T> a(s.batches, s.m, s.k, l.a_by_columns, l.a_pad);
  matrices<T> b(s.batches, s.k, s.n, l.b_by_columns, l.b_pad);
  matrices<Out> c(s.batches, s.m, s.n, l.c_by_columns, l.c_pad);
  matrices<Out> residual(s.batches, s.m, s.n, false, 3);
  a.fill(what, seed);
  b.fill(what, seed + 1);
  if (epilogue.beta != 0) c.fill(what, seed + 2);
  residual.fill(what, seed + 3);
  const matrices<Out> before = c;
  auto da = upload(a.host), db = upload(b.host);
  auto dc = upload(c.host), dr = upload(residual.host);
  auto dbias = upload(epilogue.bias);
  options.alpha = static_cast<float>(epilogue.alpha);
  options.beta = static_cast<float>(epilogue.beta);
  options.activation = epilogue.activation;
  if (!epilogue.bias.empty()) {
    const tensor_view<const f32, 1> bias(dbias, epilogue.bias.size());
    options.bias = epilogue.bias_of_rows ? per_row(bias) : per_column(bias);
  }
  const stream& on = under_test().stream();
  if (s.batches == 1) {
    if (with_residual) options.residual = view_of<const Out>(dr, residual);
    matmul(on, view_of<const T>(da, a), view_of<const T>(db, b), view_of<Out>(dc, c), options);
  } else {
    if (with_residual) options.residual = batch_of<const Out>(dr, residual);
    matmul(on, batch_of<const T>(da, a), batch_of<const T>(db, b), batch_of<Out>(dc, c), options);
  }
  if (!c.host.empty()) c.host = dc.download();
  const auto f = [&](auto x, u32 q, u32 row, u32 column) {
    return epilogue.apply(x, to_double(before.at(q, row, column)),
                          with_residual ? to_double(residual.at(q, row, column)) : 0.0, row, column);
  };
  check_product(c, before, product<Out>(a, b, f), what);
  return c.host;
}

}  // namespace kaio::tests
