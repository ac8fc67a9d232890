#pragma once
// A product as cuBLAS describes it: matrices column by column. kaio_matmul computes its transposed form, whose matrices are
// row by row: C' = op(B)' op(A)'.

#include "cuda_libraries/blas/types.hpp"

namespace kaio::cuda_libraries {

struct matrix {
  cudaDataType_t type;
  std::int64_t leading;       // elements from a column to the next
  std::int64_t distance = 0;  // elements from a product's matrix to the next one's
};

struct product {
  const char* function;
  cublasHandle_t handle;
  cublasOperation_t operation_a, operation_b;
  std::int64_t m, n, k;
  matrix a, b, c;
  const void *alpha, *beta;
  std::size_t factor_bytes = 4;  // alpha and beta are f16, f32 or f64
  bool tf32 = false;
  std::int64_t count = 1;  // products
};

// op(A) is m x k, op(B) k x n, C m x n.
cublasStatus_t run(const product& p, const void* a, const void* b, void* c);
// For matrices anywhere in memory: three arrays of addresses in device memory. Waits for the stream.
cublasStatus_t run_batch(const product& p, const void* const* a, const void* const* b, void* const* c);

}  // namespace kaio::cuda_libraries
