#include "cuda_libraries/blas/product.hpp"

#include "cuda_libraries/blas/double_product.hpp"
#include "cuda_libraries/driver.hpp"

#include <kaio/c/kaio.h>
#include <kaio/dsl/number/half.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace kaio::cuda_libraries {
namespace {

cublasStatus_t refuse(const product& p, cublasStatus_t status, const char* reason) {
  std::fprintf(stderr, "kaio: %s: %s\n", p.function, reason);
  return status;
}

bool type_of(cudaDataType_t type, DLDataType& out) {
  switch (type) {
    case CUDA_R_32F: out = {kDLFloat, 32, 1}; return true;
    case CUDA_R_16F: out = {kDLFloat, 16, 1}; return true;
    case CUDA_R_16BF: out = {kDLBfloat, 16, 1}; return true;
    case CUDA_R_8F_E4M3: out = {kDLFloat8_e4m3fn, 8, 1}; return true;
    case CUDA_R_8F_E5M2: out = {kDLFloat8_e5m2, 8, 1}; return true;
    case CUDA_R_64F: break;
  }
  return false;
}

// The transposed form of a matrix: a row for each of its columns. `across`: it is transposed by its operation.
struct tensor {
  tensor(const product& p, const matrix& from, const void* data, std::int64_t rows, std::int64_t columns,
         bool across)
      : shape{p.count, rows, columns},
        strides{from.distance, across ? 1 : from.leading, across ? from.leading : 1} {
    it.data = const_cast<void*>(data);
    it.device = {kDLCUDA, p.handle->device};
    it.ndim = 3;
    it.shape = shape;
    it.strides = strides;
    it.byte_offset = 0;
    known = type_of(from.type, it.dtype);
  }
  // A product of its own, which has no batch.
  DLTensor alone() {
    DLTensor one = it;
    one.ndim = 2;
    one.shape = shape + 1;
    one.strides = strides + 1;
    return one;
  }
  tensor(const tensor&) = delete;
  tensor& operator=(const tensor&) = delete;

  std::int64_t shape[3], strides[3];
  DLTensor it{};
  bool known;
};

// alpha or beta, in host or device memory. False: it cannot be read.
bool factor(const product& p, const void* from, double& value) {
  std::uint64_t word = 0;
  if (p.handle->pointer_mode == CUBLAS_POINTER_MODE_HOST)
    std::memcpy(&word, from, p.factor_bytes);
  else if (!copy_to_host(&word, from, p.factor_bytes, p.handle->stream))
    return false;
  if (p.factor_bytes == sizeof(double)) {
    std::memcpy(&value, &word, sizeof value);
  } else if (p.factor_bytes == sizeof(float)) {
    float narrow = 0;
    std::memcpy(&narrow, &word, sizeof narrow);
    value = narrow;
  } else {
    value = static_cast<float>(f16::from_bits(static_cast<std::uint16_t>(word)));
  }
  return true;
}

cublasStatus_t check(const product& p) {
  if (p.handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto known = [](cublasOperation_t o) { return o >= CUBLAS_OP_N && o <= CUBLAS_OP_C; };
  if (!known(p.operation_a) || !known(p.operation_b))
    return refuse(p, CUBLAS_STATUS_INVALID_VALUE, "an operation is none of N, T, C");
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.count < 0)
    return refuse(p, CUBLAS_STATUS_INVALID_VALUE, "an extent is negative");
  const auto enough = [](const matrix& x, std::int64_t rows) {
    return x.leading >= std::max<std::int64_t>(1, rows);
  };
  if (!enough(p.a, p.operation_a == CUBLAS_OP_N ? p.m : p.k) ||
      !enough(p.b, p.operation_b == CUBLAS_OP_N ? p.k : p.n) || !enough(p.c, p.m))
    return refuse(p, CUBLAS_STATUS_INVALID_VALUE,
                  "a leading dimension is smaller than the rows of its matrix");
  if (p.alpha == nullptr || p.beta == nullptr)
    return refuse(p, CUBLAS_STATUS_INVALID_VALUE, "alpha or beta is null");
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t ended(const product& p, kaio_status status) {
  switch (status) {
    case KAIO_OK: return CUBLAS_STATUS_SUCCESS;
    case KAIO_INVALID_ARGUMENT: return refuse(p, CUBLAS_STATUS_INVALID_VALUE, kaio_last_error());
    case KAIO_UNSUPPORTED_DEVICE: return refuse(p, CUBLAS_STATUS_ARCH_MISMATCH, kaio_last_error());
    default: return refuse(p, CUBLAS_STATUS_EXECUTION_FAILED, kaio_last_error());
  }
}

struct call {
  call(const product& p, const void* left, const void* right, const void* out)
      : a(p, p.a, left, p.k, p.m, p.operation_a != CUBLAS_OP_N),
        b(p, p.b, right, p.n, p.k, p.operation_b != CUBLAS_OP_N),
        c(p, p.c, out, p.n, p.m, false) {}
  tensor a, b, c;
};

// False: alpha or beta cannot be read.
bool read_factors(const product& p, double& alpha, double& beta) {
  return factor(p, p.alpha, alpha) && factor(p, p.beta, beta);
}

kaio_matmul_options options_of(const product& p, double alpha, double beta) {
  kaio_matmul_options options = kaio_matmul_options_default();
  options.precision = p.tf32 ? KAIO_MATMUL_PRECISION_TF32 : KAIO_MATMUL_PRECISION_IEEE;
  options.alpha = static_cast<float>(alpha);
  options.beta = static_cast<float>(beta);
  return options;
}

bool is_double(const product& p) {
  return p.a.type == CUDA_R_64F && p.b.type == CUDA_R_64F && p.c.type == CUDA_R_64F;
}

cublasStatus_t unknown_types(const product& p) {
  return refuse(
      p, CUBLAS_STATUS_NOT_SUPPORTED,
      "these element types are not there: A and B are both f32, f16, bf16, e4m3 or e5m2, C is f32, f16 or bf16; or all are f64");
}

}  // namespace

cublasStatus_t run(const product& p, const void* a, const void* b, void* c) {
  if (const cublasStatus_t status = check(p); status != CUBLAS_STATUS_SUCCESS) return status;
  if (p.m == 0 || p.n == 0 || p.count == 0) return CUBLAS_STATUS_SUCCESS;
  double alpha = 1, beta = 0;
  if (!read_factors(p, alpha, beta))
    return refuse(p, CUBLAS_STATUS_EXECUTION_FAILED, "alpha and beta cannot be read");
  if (is_double(p)) return run_double(p, alpha, beta, a, b, c);
  call t(p, a, b, c);
  if (!t.a.known || !t.b.known || !t.c.known || p.a.type != p.b.type) return unknown_types(p);
  const kaio_matmul_options options = options_of(p, alpha, beta);
  if (p.count != 1) return ended(p, kaio_matmul(p.handle->stream, &t.b.it, &t.a.it, &t.c.it, &options));
  const DLTensor left = t.b.alone(), right = t.a.alone(), out = t.c.alone();
  return ended(p, kaio_matmul(p.handle->stream, &left, &right, &out, &options));
}

cublasStatus_t run_batch(const product& p, const void* const* a, const void* const* b, void* const* c) {
  if (const cublasStatus_t status = check(p); status != CUBLAS_STATUS_SUCCESS) return status;
  if (p.m == 0 || p.n == 0 || p.count == 0) return CUBLAS_STATUS_SUCCESS;
  double alpha = 1, beta = 0;
  if (!read_factors(p, alpha, beta))
    return refuse(p, CUBLAS_STATUS_EXECUTION_FAILED, "alpha and beta cannot be read");
  const auto count = static_cast<std::size_t>(p.count);
  std::vector<void*> at_a(count), at_b(count), at_c(count);
  const auto read = [&](std::vector<void*>& to, const void* from) {
    return copy_to_host(to.data(), from, count * sizeof(void*), p.handle->stream);
  };
  if (!read(at_a, a) || !read(at_b, b) || !read(at_c, c))
    return refuse(p, CUBLAS_STATUS_EXECUTION_FAILED,
                  "the arrays of addresses cannot be read; is the stream captured?");
  if (is_double(p)) {
    product one = p;
    one.count = 1;
    for (std::size_t i = 0; i < count; ++i)
      if (const cublasStatus_t status = run_double(one, alpha, beta, at_a[i], at_b[i], at_c[i]);
          status != CUBLAS_STATUS_SUCCESS)
        return status;
    return CUBLAS_STATUS_SUCCESS;
  }
  call t(p, nullptr, nullptr, nullptr);
  if (!t.a.known || !t.b.known || !t.c.known || p.a.type != p.b.type) return unknown_types(p);
  const kaio_matmul_options options = options_of(p, alpha, beta);
  const auto all = [&](const std::vector<void*>& addresses, tensor& like) {
    std::vector<DLTensor> views(count, like.alone());
    for (std::size_t i = 0; i < count; ++i) views[i].data = addresses[i];
    return views;
  };
  const auto left = all(at_b, t.b), right = all(at_a, t.a), out = all(at_c, t.c);
  return ended(p,
               kaio_matmul_batch(p.handle->stream, count, left.data(), right.data(), out.data(), &options));
}

}  // namespace kaio::cuda_libraries
