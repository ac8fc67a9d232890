#pragma once
// kaio's contestant: the one place where the benchmark calls ops::matmul.

#include "bench/matmul/problem.hpp"

#include <kaio/kaio.hpp>

#include <kaio/ops/matmul.hpp>

namespace kaio::bench {

// Puts C = A * B into the stream, with A and B laid out as the problem says. `added`: the bias or residual
// that its epilogue reads.
template <class T, class Out>
void kaio_product(const stream& s, const problem& p, const buffer<T>& a, const buffer<T>& b,
                  const buffer<Out>& added, buffer<Out>& c) {
  using ops::tensor_view;
  ops::matmul_options options;
  if (p.type == element::tf32) options.precision = ops::matmul_precision::tf32;
  if (p.is_skinny()) options.constant = ops::constant_inputs::b;  // the weights of a layer
  if (p.has_bias()) options.bias = ops::per_column(tensor_view<const Out, 1>(added, p.n));
  if (p.epilogue == fused_epilogue::gelu_bias) options.activation = ops::matmul_activation::gelu_tanh;
  const bool has_residual = p.epilogue == fused_epilogue::residual;
  if (p.batch == 1) {
    if (has_residual) options.residual = tensor_view<const Out, 2>(added, p.m, p.n);
    const auto left = p.a_transposed ? tensor_view<const T, 2>(a, p.k, p.m).transposed()
                                     : tensor_view<const T, 2>(a, p.m, p.k);
    const auto right = p.b_transposed ? tensor_view<const T, 2>(b, p.n, p.k).transposed()
                                      : tensor_view<const T, 2>(b, p.k, p.n);
    ops::matmul(s, left, right, tensor_view<Out, 2>(c, p.m, p.n), options);
  } else {
    if (has_residual) options.residual = tensor_view<const Out, 3>(added, p.batch, p.m, p.n);
    const auto left = p.a_transposed ? tensor_view<const T, 3>(a, p.batch, p.k, p.m).transposed()
                                     : tensor_view<const T, 3>(a, p.batch, p.m, p.k);
    const auto right = p.b_transposed ? tensor_view<const T, 3>(b, p.batch, p.n, p.k).transposed()
                                      : tensor_view<const T, 3>(b, p.batch, p.k, p.n);
    ops::matmul(s, left, right, tensor_view<Out, 3>(c, p.batch, p.m, p.n), options);
  }
}

}  // namespace kaio::bench
