#include "cuda_libraries/blas/double_product.hpp"

#include <kaio/dsl/dsl.hpp>

#include <string>
#include <string_view>

namespace kaio::cuda_libraries {
namespace {

// c[row + column * ldc] = alpha * sum over i of a[row * a_row + i * a_inner] * b[i * b_inner + column * b_column] + beta * c
inline constexpr auto double_product = kernel<"cublas_dgemm", 128>(
    [](thread t, in<f64> a, in<f64> b, inout<f64> c, val<u32> rows, val<u32> elements, val<u32> inner,
       val<u64> a_row, val<u64> a_inner, val<u64> b_inner, val<u64> b_column, val<u64> ldc, val<f64> alpha,
       val<f64> beta) {
      const val at = t.global_id();
      if (auto inside = t.when(at < elements)) {
        const val row = t.let(cast<u64>(at % rows)), column = t.let(cast<u64>(at / rows));
        var sum(t, f64{0});
        for (auto i : t.range(0u, inner)) {
          const val k = t.let(cast<u64>(i));
          sum = fma(a[row * a_row + k * a_inner], b[k * b_inner + column * b_column], sum);
        }
        const val to = t.let(row + column * ldc);
        var old(t, f64{0});
        if (auto reads = t.when(beta != f64{0})) old = beta * c[to];
        c[to] = fma(alpha, sum, old);
      }
    });

}  // namespace

cublasStatus_t run_double(const product& p, double alpha, double beta, const void* a, const void* b,
                          void* c) {
  const std::uint64_t elements = static_cast<std::uint64_t>(p.m) * static_cast<std::uint64_t>(p.n);
  if (elements > UINT32_MAX) return CUBLAS_STATUS_NOT_SUPPORTED;
  std::string text;
  for (const std::string_view segment : double_product.ptx()) text += segment;
  const bool across_a = p.operation_a != CUBLAS_OP_N, across_b = p.operation_b != CUBLAS_OP_N;
  const auto step = [](bool leading, std::int64_t of) {
    return leading ? static_cast<std::uint64_t>(of) : 1u;
  };
  std::uint64_t a_row = step(across_a, p.a.leading), a_inner = step(!across_a, p.a.leading);
  std::uint64_t b_inner = step(across_b, p.b.leading), b_column = step(!across_b, p.b.leading);
  std::uint64_t ldc = static_cast<std::uint64_t>(p.c.leading);
  std::uint32_t rows = static_cast<std::uint32_t>(p.m), count = static_cast<std::uint32_t>(elements);
  std::uint32_t inner = alpha == 0 ? 0 : static_cast<std::uint32_t>(p.k);  // alpha = 0 reads neither A nor B
  for (std::int64_t i = 0; i < p.count; ++i) {
    const double* left = static_cast<const double*>(a) + i * p.a.distance;
    const double* right = static_cast<const double*>(b) + i * p.b.distance;
    double* to = static_cast<double*>(c) + i * p.c.distance;
    void* parameters[] = {&left,    &right,   &to,       &rows, &count, &inner, &a_row,
                          &a_inner, &b_inner, &b_column, &ldc,  &alpha, &beta};
    if (!p.handle->double_product.launch(text.c_str(), "cublas_dgemm", (count - 1) / 128 + 1, 128,
                                         p.handle->stream, parameters))
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace kaio::cuda_libraries
