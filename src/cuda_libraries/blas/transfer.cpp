// cuBLAS' copies between host and device: vectors with steps, and matrices column by column.

#include "cuda_libraries/blas/types.hpp"
#include "cuda_libraries/driver.hpp"

#include <cstring>

namespace kaio::cuda_libraries {
namespace {

// `rows` elements of each of `columns` columns, which are `step_from` and `step_to` elements apart.
cublasStatus_t copy_columns(transfer direction, int rows, int columns, int bytes, const void* from,
                            int step_from, void* to, int step_to, void* stream, bool waits) {
  if (rows < 0 || columns < 0 || bytes < 1 || step_from < 1 || step_to < 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto apart = [&](int step) {
    return static_cast<std::size_t>(step) * static_cast<std::size_t>(bytes);
  };
  const bool done = copy_rows(direction, to, apart(step_to), from, apart(step_from), apart(rows),
                              static_cast<std::size_t>(columns), stream);
  return done && (!waits || wait_for(stream)) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

// A vector with a step is a matrix with one row.
cublasStatus_t copy_vector(transfer direction, int count, int bytes, const void* from, int step_from,
                           void* to, int step_to, void* stream, bool waits) {
  return copy_columns(direction, 1, count, bytes, from, step_from, to, step_to, stream, waits);
}

cublasStatus_t copy_matrix(transfer direction, int rows, int columns, int bytes, const void* from,
                           int step_from, void* to, int step_to, void* stream, bool waits) {
  if (step_from < rows || step_to < rows) return CUBLAS_STATUS_INVALID_VALUE;
  return copy_columns(direction, rows, columns, bytes, from, step_from, to, step_to, stream, waits);
}

}  // namespace

#define KAIO_TRANSFER(name, direction)                                                                       \
  KAIO_EXPORTED cublasStatus_t cublas##name##Vector(int count, int bytes, const void* from, int step_from,   \
                                                    void* to, int step_to) {                                 \
    return copy_vector(transfer::direction, count, bytes, from, step_from, to, step_to, nullptr, true);      \
  }                                                                                                          \
  KAIO_EXPORTED cublasStatus_t cublas##name##Matrix(int rows, int columns, int bytes, const void* from,      \
                                                    int step_from, void* to, int step_to) {                  \
    return copy_matrix(transfer::direction, rows, columns, bytes, from, step_from, to, step_to, nullptr,     \
                       true);                                                                                \
  }                                                                                                          \
  KAIO_EXPORTED cublasStatus_t cublas##name##VectorAsync(                                                    \
      int count, int bytes, const void* from, int step_from, void* to, int step_to, void* stream) {          \
    return copy_vector(transfer::direction, count, bytes, from, step_from, to, step_to, stream, false);      \
  }                                                                                                          \
  KAIO_EXPORTED cublasStatus_t cublas##name##MatrixAsync(int rows, int columns, int bytes, const void* from, \
                                                         int step_from, void* to, int step_to,               \
                                                         void* stream) {                                     \
    return copy_matrix(transfer::direction, rows, columns, bytes, from, step_from, to, step_to, stream,      \
                       false);                                                                               \
  }
KAIO_TRANSFER(Set, to_device)
KAIO_TRANSFER(Get, to_host)
#undef KAIO_TRANSFER

}  // namespace kaio::cuda_libraries
