#pragma once
// Runs an f32 matmul kernel on matrices and compares it with the host.

#include <kaio/ops/matmul/common/split_reduce.hpp>
#include <kaio/ops/matmul/simt/kernel.hpp>
#include <kaio/ops/matmul/simt/table_row.hpp>

#include "tests/ops/support.hpp"

namespace kaio::tests {

using ops::major;
using ops::simt_config;
using ops::simt_problem;

template <simt_config C>
simt_problem problem_of(const matrices<f32>& a, const matrices<f32>& b, u64 ldc, u64 batch_c,
                        u32 splits = 1) {
  simt_problem p = ops::simt_problem_of<C>(a.rows, b.columns, a.columns, splits);
  p.lda = static_cast<i64>(a.leading);
  p.ldb = static_cast<i64>(b.leading);
  p.batch_a = static_cast<i64>(a.stride);
  p.batch_b = static_cast<i64>(b.stride);
  p.ldc = static_cast<i64>(ldc);
  p.batch_c = static_cast<i64>(batch_c);
  p.vector_stores = ldc % 4 == 0 && batch_c % 4 == 0;
  return p;
}

// C = alpha A B into an output with padding. `splits`: blocks of a cluster.
template <simt_config C, class Out = f32>
void check_simt(const matrices<f32>& a, const matrices<f32>& b, content what, f32 alpha = 1, u32 splits = 1) {
  matrices<Out> c(a.batches, a.rows, b.columns, false, 3, 5);
  const matrices<Out> before = c;
  auto on_device = under_test().upload(c.host);
  const auto of_a = upload(a.host), of_b = upload(b.host);
  const simt_problem p = problem_of<C>(a, b, c.leading, c.stride, splits);
  ops::simt_matmul<C, Out, ops::scaled>.launch(under_test().stream(), ops::simt_grid<C>(p, a.batches, splits),
                                               of_a, of_b, on_device, p, alpha);
  c.host = on_device.download();
  const auto scale = [&](auto x, u32, u32, u32) { return x * static_cast<decltype(x)>(alpha); };
  check_product(c, before, product<Out>(a, b, scale), what);
}

}  // namespace kaio::tests
