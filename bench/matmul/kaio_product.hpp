#pragma once
// kaio's contestant: the one place where the benchmark calls ops::matmul.

#include "bench/matmul/problem.hpp"

#include <kaio/kaio.hpp>

#include <kaio/ops/matmul.hpp>

namespace kaio::bench {

// Puts C = A * B into the stream, with A and B laid out as the problem says.
template <class T, class Out>
void kaio_product(const stream& s, const problem& p, const buffer<T>& a, const buffer<T>& b, buffer<Out>& c) {
  using ops::tensor_view;
  ops::matmul_options options;
  if (p.type == element::tf32) options.precision = ops::matmul_precision::tf32;
  if (p.is_skinny()) options.constant = ops::constant_operands::b;  // the weights of a layer
  if (p.batch == 1) {
    const auto left = p.a_transposed ? tensor_view<const T, 2>(a, p.k, p.m).transposed()
                                     : tensor_view<const T, 2>(a, p.m, p.k);
    const auto right = p.b_transposed ? tensor_view<const T, 2>(b, p.n, p.k).transposed()
                                      : tensor_view<const T, 2>(b, p.k, p.n);
    ops::matmul(s, left, right, tensor_view<Out, 2>(c, p.m, p.n), options);
  } else {
    const auto left = p.a_transposed ? tensor_view<const T, 3>(a, p.batch, p.k, p.m).transposed()
                                     : tensor_view<const T, 3>(a, p.batch, p.m, p.k);
    const auto right = p.b_transposed ? tensor_view<const T, 3>(b, p.batch, p.n, p.k).transposed()
                                      : tensor_view<const T, 3>(b, p.batch, p.k, p.n);
    ops::matmul(s, left, right, tensor_view<Out, 3>(c, p.batch, p.m, p.n), options);
  }
}

}  // namespace kaio::bench
