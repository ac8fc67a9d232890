#pragma once
// Products of f64, which kaio's operations do not have: a plain kernel, an element of C a thread.

#include "cuda_libraries/blas/product.hpp"

namespace kaio::cuda_libraries {

// For a checked product of matrices of f64; alpha and beta are f64.
cublasStatus_t run_double(const product& p, double alpha, double beta, const void* a, const void* b, void* c);

}  // namespace kaio::cuda_libraries
