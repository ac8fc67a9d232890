#pragma once
// The part of cuBLASLt's ABI that the benchmark calls, by NVIDIA's names. Source: cuBLAS documentation,
// "Using the cuBLASLt API", of 12.x and 13.x, in which these declarations are the same.

#include <cstddef>
#include <cstdint>

namespace kaio::bench::lt {

using cublasStatus_t = int;  // 0: CUBLAS_STATUS_SUCCESS
using cublasLtHandle_t = struct cublas_lt_context*;
using cublasLtMatmulDesc_t = struct cublas_lt_matmul_description*;
using cublasLtMatrixLayout_t = struct cublas_lt_matrix_layout*;
using cublasLtMatmulPreference_t = struct cublas_lt_matmul_preference*;
using cudaStream_t = void*;

enum cudaDataType_t : int {
  CUDA_R_32F = 0,
  CUDA_R_16F = 2,
  CUDA_R_16BF = 14,
  CUDA_R_8F_E4M3 = 28,
  CUDA_R_8F_E5M2 = 29,
};

enum cublasComputeType_t : int {
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
};

enum cublasOperation_t : std::int32_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };

enum cublasLtMatmulDescAttributes_t : int {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,      // of cublasLtEpilogue_t
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,  // one number for each row of D
  CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,
  CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
  CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,  // std::int32_t, of cudaDataType_t
};

enum cublasLtEpilogue_t : std::int32_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36,  // the tanh form
};

enum cublasLtMatrixLayoutAttribute_t : int {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,           // std::int32_t
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,  // std::int64_t, elements
};

enum cublasLtMatmulPreferenceAttributes_t : int {
  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,  // std::uint64_t
};

struct cublasLtMatmulAlgo_t {
  std::uint64_t data[8];
};

struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == 96);

// X(name, parameters)
#define KAIO_CUBLAS_LT_FUNCTIONS(X)                                                                          \
  X(cublasLtCreate, (cublasLtHandle_t * handle))                                                             \
  X(cublasLtMatmulDescCreate,                                                                                \
    (cublasLtMatmulDesc_t * description, cublasComputeType_t compute, cudaDataType_t scale))                 \
  X(cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t description))                                           \
  X(cublasLtMatmulDescSetAttribute, (cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t which, \
                                     const void* value, std::size_t bytes))                                  \
  X(cublasLtMatrixLayoutCreate, (cublasLtMatrixLayout_t * layout, cudaDataType_t type, std::uint64_t rows,   \
                                 std::uint64_t columns, std::int64_t leading))                               \
  X(cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t layout))                                            \
  X(cublasLtMatrixLayoutSetAttribute, (cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which, \
                                       const void* value, std::size_t bytes))                                \
  X(cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t * preference))                               \
  X(cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t preference))                                \
  X(cublasLtMatmulPreferenceSetAttribute,                                                                    \
    (cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t which, const void* value,   \
     std::size_t bytes))                                                                                     \
  X(cublasLtMatmulAlgoGetHeuristic,                                                                          \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a,                    \
     cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,                           \
     cublasLtMatmulPreference_t preference, int requested, cublasLtMatmulHeuristicResult_t* results,         \
     int* returned))                                                                                         \
  X(cublasLtMatmul,                                                                                          \
    (cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void* alpha, const void* a,            \
     cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,      \
     const void* c, cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,               \
     const cublasLtMatmulAlgo_t* algorithm, void* workspace, std::size_t workspace_bytes,                    \
     cudaStream_t stream))

struct functions {
#define KAIO_DECLARE(name, parameters) cublasStatus_t(*name) parameters = nullptr;
  KAIO_CUBLAS_LT_FUNCTIONS(KAIO_DECLARE)
#undef KAIO_DECLARE
  std::size_t (*cublasLtGetVersion)() = nullptr;
};

}  // namespace kaio::bench::lt
