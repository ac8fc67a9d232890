// cuBLAS' handle: its stream, modes and versions.

#include "cuda_libraries/blas/types.hpp"
#include "cuda_libraries/driver.hpp"

#include <new>

namespace kaio::cuda_libraries {

constexpr int version = 130000;  // the interface is that of CUDA 13.0

KAIO_EXPORTED cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const int device = current_device();
  // A runtime program has no current context before its first call that needs one; the first device is the default.
  *handle = new (std::nothrow) cublasContext;
  if (*handle == nullptr) return CUBLAS_STATUS_ALLOC_FAILED;
  (*handle)->device = device < 0 ? 0 : device;
  return CUBLAS_STATUS_SUCCESS;
}

KAIO_EXPORTED cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

KAIO_EXPORTED cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* number) {
  if (number == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *number = version;
  return CUBLAS_STATUS_SUCCESS;
}

KAIO_EXPORTED std::size_t cublasGetCudartVersion() { return version / 10; }

KAIO_EXPORTED cublasStatus_t cublasGetProperty(int property, int* value) {
  if (value == nullptr || property < 0 || property > 2) return CUBLAS_STATUS_INVALID_VALUE;
  *value = property == 0 ? version / 10000 : property == 1 ? version / 100 % 100 : version % 100;
  return CUBLAS_STATUS_SUCCESS;
}

namespace {

template <class Field, class Value>
cublasStatus_t set(cublasHandle_t handle, Field field, Value value) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->*field = value;
  return CUBLAS_STATUS_SUCCESS;
}

template <class Field, class Value>
cublasStatus_t get(cublasHandle_t handle, Field field, Value* value) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *value = static_cast<Value>(handle->*field);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

KAIO_EXPORTED cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, void* stream) {
  return set(handle, &cublasContext::stream, stream);
}
KAIO_EXPORTED cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, void** stream) {
  return get(handle, &cublasContext::stream, stream);
}
KAIO_EXPORTED cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE)
    return CUBLAS_STATUS_INVALID_VALUE;
  return set(handle, &cublasContext::pointer_mode, mode);
}
KAIO_EXPORTED cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return get(handle, &cublasContext::pointer_mode, mode);
}
KAIO_EXPORTED cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return set(handle, &cublasContext::atomics, mode);
}
KAIO_EXPORTED cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return get(handle, &cublasContext::atomics, mode);
}
KAIO_EXPORTED cublasStatus_t cublasSetMathMode(cublasHandle_t handle, int mode) {
  return set(handle, &cublasContext::math, mode);
}
KAIO_EXPORTED cublasStatus_t cublasGetMathMode(cublasHandle_t handle, int* mode) {
  return get(handle, &cublasContext::math, mode);
}
KAIO_EXPORTED cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int processors) {
  return set(handle, &cublasContext::processors, processors);
}
KAIO_EXPORTED cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* processors) {
  return get(handle, &cublasContext::processors, processors);
}
// The products here take no workspace.
KAIO_EXPORTED cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, std::size_t) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

KAIO_EXPORTED const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "unknown";
}
KAIO_EXPORTED const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

}  // namespace kaio::cuda_libraries
