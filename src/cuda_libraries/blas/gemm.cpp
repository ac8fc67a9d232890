// cuBLAS' functions of products: gemm in its forms, and gemv.

#include "cuda_libraries/blas/product.hpp"

#include <cstdio>

namespace kaio::cuda_libraries {
namespace {

using operation = cublasOperation_t;

bool tf32_of(cublasHandle_t handle, cublasComputeType_t compute) {
  return compute == CUBLAS_COMPUTE_32F_FAST_TF32 || (compute == CUBLAS_COMPUTE_32F && handle != nullptr &&
                                                     (handle->math & 15) == CUBLAS_TF32_TENSOR_OP_MATH);
}

std::size_t bytes_of_factors(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return 2;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return 8;
    default: return 4;
  }
}

bool known(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return true;
  }
  return false;
}

cublasStatus_t unsupported(const char* function, const char* what) {
  std::fprintf(stderr, "kaio: %s: %s is not in the emulator's cuBLAS\n", function, what);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

// Factors have the type of the elements.
product simple(const char* function, cublasHandle_t handle, operation oa, operation ob, int m, int n, int k,
               cudaDataType_t type, const void* alpha, int lda, int ldb, const void* beta, int ldc) {
  return {function,
          handle,
          oa,
          ob,
          m,
          n,
          k,
          {type, lda},
          {type, ldb},
          {type, ldc},
          alpha,
          beta,
          type == CUDA_R_16F   ? 2u
          : type == CUDA_R_64F ? 8u
                               : 4u,
          tf32_of(handle, CUBLAS_COMPUTE_32F)};
}

product general(const char* function, cublasHandle_t handle, operation oa, operation ob, int m, int n, int k,
                const void* alpha, matrix a, matrix b, const void* beta, matrix c,
                cublasComputeType_t compute, int count) {
  return {function,
          handle,
          oa,
          ob,
          m,
          n,
          k,
          a,
          b,
          c,
          alpha,
          beta,
          bytes_of_factors(compute),
          tf32_of(handle, compute),
          count};
}

}  // namespace

// One function for each element type: cublas{S,H}gemm, their strided batches, and batches by addresses.
#define KAIO_GEMM(letter, element, type)                                                                   \
  KAIO_EXPORTED cublasStatus_t cublas##letter##gemm_v2(                                                    \
      cublasHandle_t handle, operation oa, operation ob, int m, int n, int k, const element* alpha,        \
      const element* a, int lda, const element* b, int ldb, const element* beta, element* c, int ldc) {    \
    return run(simple("cublas" #letter "gemm", handle, oa, ob, m, n, k, type, alpha, lda, ldb, beta, ldc), \
               a, b, c);                                                                                   \
  }                                                                                                        \
  KAIO_EXPORTED cublasStatus_t cublas##letter##gemmStridedBatched(                                         \
      cublasHandle_t handle, operation oa, operation ob, int m, int n, int k, const element* alpha,        \
      const element* a, int lda, long long distance_a, const element* b, int ldb, long long distance_b,    \
      const element* beta, element* c, int ldc, long long distance_c, int count) {                         \
    product p = simple("cublas" #letter "gemmStridedBatched", handle, oa, ob, m, n, k, type, alpha, lda,   \
                       ldb, beta, ldc);                                                                    \
    p.a.distance = distance_a;                                                                             \
    p.b.distance = distance_b;                                                                             \
    p.c.distance = distance_c;                                                                             \
    p.count = count;                                                                                       \
    return run(p, a, b, c);                                                                                \
  }                                                                                                        \
  KAIO_EXPORTED cublasStatus_t cublas##letter##gemmBatched(                                                \
      cublasHandle_t handle, operation oa, operation ob, int m, int n, int k, const element* alpha,        \
      const element* const* a, int lda, const element* const* b, int ldb, const element* beta,             \
      element* const* c, int ldc, int count) {                                                             \
    product p =                                                                                            \
        simple("cublas" #letter "gemmBatched", handle, oa, ob, m, n, k, type, alpha, lda, ldb, beta, ldc); \
    p.count = count;                                                                                       \
    return run_batch(p, reinterpret_cast<const void* const*>(a), reinterpret_cast<const void* const*>(b),  \
                     reinterpret_cast<void* const*>(c));                                                   \
  }
KAIO_GEMM(S, float, CUDA_R_32F)
KAIO_GEMM(H, std::uint16_t, CUDA_R_16F)
KAIO_GEMM(D, double, CUDA_R_64F)
#undef KAIO_GEMM

#define KAIO_GEMV(letter, element, type)                                                                  \
  KAIO_EXPORTED cublasStatus_t cublas##letter##gemv_v2(                                                   \
      cublasHandle_t handle, operation oa, int m, int n, const element* alpha, const element* a, int lda, \
      const element* x, int step_x, const element* beta, element* y, int step_y) {                        \
    if (step_x < 1 || step_y != 1)                                                                        \
      return unsupported("cublas" #letter "gemv", "a step of x below 1, or of y that is not 1,");         \
    /* y, a matrix of one column, = op(A) x; x is the row of a matrix with step_x rows. */                \
    const bool across = oa != CUBLAS_OP_N;                                                                \
    const int rows = across ? n : m, inner = across ? m : n;                                              \
    return run(simple("cublas" #letter "gemv", handle, oa, CUBLAS_OP_T, rows, 1, inner, type, alpha, lda, \
                      step_x, beta, rows > 0 ? rows : 1),                                                 \
               a, x, y);                                                                                  \
  }
KAIO_GEMV(S, float, CUDA_R_32F)
KAIO_GEMV(D, double, CUDA_R_64F)
#undef KAIO_GEMV

KAIO_EXPORTED cublasStatus_t cublasGemmEx(cublasHandle_t handle, operation oa, operation ob, int m, int n,
                                          int k, const void* alpha, const void* a, cudaDataType_t type_a,
                                          int lda, const void* b, cudaDataType_t type_b, int ldb,
                                          const void* beta, void* c, cudaDataType_t type_c, int ldc,
                                          cublasComputeType_t compute, int) {
  if (!known(compute)) return unsupported("cublasGemmEx", "this compute type");
  return run(general("cublasGemmEx", handle, oa, ob, m, n, k, alpha, {type_a, lda}, {type_b, ldb}, beta,
                     {type_c, ldc}, compute, 1),
             a, b, c);
}

KAIO_EXPORTED cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, operation oa, operation ob,
                                                        int m, int n, int k, const void* alpha, const void* a,
                                                        cudaDataType_t type_a, int lda, long long distance_a,
                                                        const void* b, cudaDataType_t type_b, int ldb,
                                                        long long distance_b, const void* beta, void* c,
                                                        cudaDataType_t type_c, int ldc, long long distance_c,
                                                        int count, cublasComputeType_t compute, int) {
  if (!known(compute)) return unsupported("cublasGemmStridedBatchedEx", "this compute type");
  return run(general("cublasGemmStridedBatchedEx", handle, oa, ob, m, n, k, alpha, {type_a, lda, distance_a},
                     {type_b, ldb, distance_b}, beta, {type_c, ldc, distance_c}, compute, count),
             a, b, c);
}

KAIO_EXPORTED cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, operation oa, operation ob, int m,
                                                 int n, int k, const void* alpha, const void* const* a,
                                                 cudaDataType_t type_a, int lda, const void* const* b,
                                                 cudaDataType_t type_b, int ldb, const void* beta,
                                                 void* const* c, cudaDataType_t type_c, int ldc, int count,
                                                 cublasComputeType_t compute, int) {
  if (!known(compute)) return unsupported("cublasGemmBatchedEx", "this compute type");
  return run_batch(general("cublasGemmBatchedEx", handle, oa, ob, m, n, k, alpha, {type_a, lda},
                           {type_b, ldb}, beta, {type_c, ldc}, compute, count),
                   a, b, c);
}

// Complex numbers: refused with a message, so that a program that links them starts.
#define KAIO_REFUSED(name) \
  KAIO_EXPORTED cublasStatus_t cublas##name() { return unsupported("cublas" #name, "a complex number"); }
KAIO_REFUSED(Cgemm_v2)
KAIO_REFUSED(CgemmStridedBatched)
KAIO_REFUSED(CgemmBatched)
KAIO_REFUSED(Zgemm_v2)
KAIO_REFUSED(ZgemmStridedBatched)
KAIO_REFUSED(ZgemmBatched)
KAIO_REFUSED(Cgemv_v2)
KAIO_REFUSED(Zgemv_v2)
#undef KAIO_REFUSED

}  // namespace kaio::cuda_libraries
