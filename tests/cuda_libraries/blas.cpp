// Products by cuBLAS' functions, against sums in f64.

#include "tests/cuda_libraries/support.hpp"

#include "cuda_libraries/blas/types.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <string>

using namespace cuda_libraries_test;
using namespace kaio::cuda_libraries;

extern "C" {
cublasStatus_t cublasCreate_v2(cublasHandle_t*);
cublasStatus_t cublasDestroy_v2(cublasHandle_t);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int*);
cublasStatus_t cublasSetStream_v2(cublasHandle_t, void*);
cublasStatus_t cublasGetStream_v2(cublasHandle_t, void**);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t, cublasPointerMode_t);
cublasStatus_t cublasSgemm_v2(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const float*, const float*, int, const float*, int, const float*, float*, int);
cublasStatus_t cublasSgemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                  const float*, const float* const*, int, const float* const*, int,
                                  const float*, float* const*, int, int);
cublasStatus_t cublasSgemv_v2(cublasHandle_t, cublasOperation_t, int, int, const float*, const float*, int,
                              const float*, int, const float*, float*, int);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                          const void*, const void*, cudaDataType_t, int, long long,
                                          const void*, cudaDataType_t, int, long long, const void*, void*,
                                          cudaDataType_t, int, long long, int, cublasComputeType_t, int);
cublasStatus_t cublasHgemm_v2(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const std::uint16_t*, const std::uint16_t*, int, const std::uint16_t*, int,
                              const std::uint16_t*, std::uint16_t*, int);
cublasStatus_t cublasDgemm_v2(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const double*, const double*, int, const double*, int, const double*, double*,
                              int);
cublasStatus_t cublasDgemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                                  const double*, const double* const*, int, const double* const*, int,
                                  const double*, double* const*, int, int);
cublasStatus_t cublasCgemm_v2();
cublasStatus_t cublasSetMatrix(int, int, int, const void*, int, void*, int);
cublasStatus_t cublasGetMatrix(int, int, int, const void*, int, void*, int);
cublasStatus_t cublasSetVector(int, int, const void*, int, void*, int);
cublasStatus_t cublasGetVector(int, int, const void*, int, void*, int);
const char* cublasGetStatusName(cublasStatus_t);
}

namespace {

constexpr auto N = CUBLAS_OP_N, T = CUBLAS_OP_T;

struct handle {
  cublasHandle_t it = nullptr;
  handle() { MUST(cublasCreate_v2(&it)); }
  ~handle() { cublasDestroy_v2(it); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  operator cublasHandle_t() const { return it; }
};

std::vector<float> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 source(seed);
  std::vector<float> v(count);
  // Eighths: products and sums are exact in f32.
  for (float& x : v) x = (static_cast<float>(source() % 33) - 16) / 8;
  return v;
}

// Element (row, column) of op(X), whose X is column by column.
float element(const std::vector<float>& x, cublasOperation_t operation, int leading, int row, int column) {
  return x[static_cast<std::size_t>(operation == N ? row + column * leading : column + row * leading)];
}

}  // namespace

TEST_CASE("cublasSgemm computes every form of its operands") {
  const session s;
  const handle blas;
  const auto oa = GENERATE(N, T), ob = GENERATE(N, T);
  const int m = 19, n = 7, k = 33, lda = (oa == N ? m : k) + 3, ldb = (ob == N ? k : n) + 1, ldc = m + 2;
  const auto a = random_numbers(static_cast<std::size_t>(lda * (oa == N ? k : m)), 1);
  const auto b = random_numbers(static_cast<std::size_t>(ldb * (ob == N ? n : k)), 2);
  const auto c = random_numbers(static_cast<std::size_t>(ldc * n), 3);
  const array<float> da(a), db(b), dc(c);
  const float alpha = 0.5f, beta = -2;
  MUST(cublasSgemm_v2(blas, oa, ob, m, n, k, &alpha, da.data(), lda, db.data(), ldb, &beta, dc.data(), ldc));
  const auto result = dc.values();
  for (int column = 0; column < n; ++column)
    for (int row = 0; row < ldc; ++row) {
      const auto at = static_cast<std::size_t>(row + column * ldc);
      double want = c[at];  // rows past m stay as they were
      if (row < m) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum += double{element(a, oa, lda, row, i)} * element(b, ob, ldb, i, column);
        want = alpha * sum + beta * want;
      }
      REQUIRE(result[at] == static_cast<float>(want));
    }
}

TEST_CASE("cublasDgemm computes every form of its operands") {
  const session s;
  const handle blas;
  const auto oa = GENERATE(N, T), ob = GENERATE(N, T);
  const double beta = GENERATE(0.0, 3.0);
  const int m = 17, n = 9, k = 21, lda = (oa == N ? m : k) + 1, ldb = (ob == N ? k : n) + 2, ldc = m + 3;
  const auto a = random_numbers(static_cast<std::size_t>(lda * (oa == N ? k : m)), 1);
  const auto b = random_numbers(static_cast<std::size_t>(ldb * (ob == N ? n : k)), 2);
  const array<double> da(std::vector<double>(a.begin(), a.end())),
      db(std::vector<double>(b.begin(), b.end()));
  const std::vector<double> c(static_cast<std::size_t>(ldc * n), beta == 0 ? std::nan("") : 7);
  const array<double> dc(c);
  const double alpha = 0.5;
  MUST(cublasDgemm_v2(blas, oa, ob, m, n, k, &alpha, da.data(), lda, db.data(), ldb, &beta, dc.data(), ldc));
  const auto result = dc.values();
  for (int column = 0; column < n; ++column)
    for (int row = 0; row < m; ++row) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += double{element(a, oa, lda, row, i)} * element(b, ob, ldb, i, column);
      REQUIRE(result[static_cast<std::size_t>(row + column * ldc)] ==
              alpha * sum + (beta == 0 ? 0 : beta * 7));
    }
  const array<const double*> as({da.data(), da.data() + 1}), bs({db.data(), db.data()});
  const array<double*> cs({dc.data(), dc.data() + 1});
  MUST(cublasDgemmBatched(blas, N, N, 1, 1, 1, &alpha, as.data(), lda, bs.data(), ldb, &alpha, cs.data(), ldc,
                          2));
  CHECK(dc.values()[1] == 0.5 * (double{a[1]} * b[0] + result[1]));
}

TEST_CASE("cublasSetMatrix and its like copy columns and vectors") {
  const session s;
  const std::vector<float> host{1, 2, 3, 4, 5, 6};  // 2 of 3 rows, 2 columns
  const array<float> x(std::vector<float>(8, 0));
  MUST(cublasSetMatrix(2, 2, 4, host.data(), 3, x.data(), 4));
  CHECK(x.values() == std::vector<float>{1, 2, 0, 0, 4, 5, 0, 0});
  std::vector<float> back(4, 0);
  MUST(cublasGetMatrix(2, 2, 4, x.data(), 4, back.data(), 2));
  CHECK(back == std::vector<float>{1, 2, 4, 5});
  MUST(cublasSetVector(3, 4, host.data(), 2, x.data(), 1));
  MUST(cublasGetVector(2, 4, x.data() + 1, 1, back.data(), 2));
  CHECK(back == std::vector<float>{3, 2, 5, 5});
  CHECK(cublasSetMatrix(3, 1, 4, host.data(), 2, x.data(), 3) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasGetVector(1, 0, x.data(), 1, back.data(), 1) == CUBLAS_STATUS_INVALID_VALUE);
}

TEST_CASE("cublasSgemm reads alpha and beta from the device in that mode") {
  const session s;
  const handle blas;
  MUST(cublasSetPointerMode_v2(blas, CUBLAS_POINTER_MODE_DEVICE));
  const array<float> factors({3, 1}), a({2}), b({5}), c({100});
  MUST(cublasSgemm_v2(blas, N, N, 1, 1, 1, factors.data(), a.data(), 1, b.data(), 1, factors.data() + 1,
                      c.data(), 1));
  CHECK(c.values()[0] == 130);
}

TEST_CASE("cublasHgemm takes factors of f16") {
  const session s;
  const handle blas;
  const std::uint16_t three = 0x4200, half = 0x3800, two = 0x4000, five = 0x4500, eight = 0x4800;
  const array<std::uint16_t> a({two}), b({five}), c({eight});
  MUST(cublasHgemm_v2(blas, N, N, 1, 1, 1, &three, a.data(), 1, b.data(), 1, &half, c.data(), 1));
  CHECK(c.values()[0] == 0x5040);  // 3 * 2 * 5 + 0.5 * 8 = 34
}

TEST_CASE("cublasSgemmBatched takes arrays of addresses in device memory") {
  const session s;
  const handle blas;
  const array<float> a({1, 2, 3, 4, 5, 6}), b({1, 10, 100}), c({0, 0, 0});
  const array<const float*> as({a.data(), a.data() + 2, a.data() + 4}),
      bs({b.data(), b.data() + 1, b.data() + 2});
  const array<float*> cs({c.data() + 2, c.data() + 1, c.data()});
  const float one = 1, zero = 0;
  // 1 x 1 products of K = 1; the second columns are not read.
  MUST(cublasSgemmBatched(blas, N, N, 1, 1, 1, &one, as.data(), 1, bs.data(), 1, &zero, cs.data(), 1, 3));
  CHECK(c.values() == std::vector<float>{500, 30, 1});
}

TEST_CASE("cublasSgemv is a product with one column") {
  const session s;
  const handle blas;
  const auto operation = GENERATE(N, T);
  const int m = 6, n = 4;
  const auto a = random_numbers(m * n, 4), x = random_numbers(2 * m, 5);
  const int rows = operation == N ? m : n, inner = operation == N ? n : m;
  const array<float> da(a), dx(x), dy(std::vector<float>(static_cast<std::size_t>(rows), 1));
  const float alpha = 2, beta = 1;
  MUST(cublasSgemv_v2(blas, operation, m, n, &alpha, da.data(), m, dx.data(), 2, &beta, dy.data(), 1));
  const auto y = dy.values();
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < inner; ++i)
      sum += double{element(a, operation, m, row, i)} * x[static_cast<std::size_t>(2 * i)];
    REQUIRE(y[static_cast<std::size_t>(row)] == static_cast<float>(2 * sum + 1));
  }
}

TEST_CASE("cublasGemmStridedBatchedEx multiplies bf16 into f32, on a stream") {
  const session s;
  const handle blas;
  CUstream stream = nullptr;
  MUST(cuStreamCreate(&stream, 1));
  MUST(cublasSetStream_v2(blas, stream));
  void* got = nullptr;
  MUST(cublasGetStream_v2(blas, &got));
  CHECK(got == stream);
  const int m = 5, n = 9, k = 16, count = 3;
  const auto a = random_numbers(m * k * count, 6), b = random_numbers(k * n, 7);
  const auto narrow = [](const std::vector<float>& v) {
    std::vector<std::uint16_t> bits;
    for (const float x : v) {
      std::uint32_t word = 0;
      std::memcpy(&word, &x, 4);
      bits.push_back(static_cast<std::uint16_t>(word >> 16));  // eighths below 2^5 are exact
    }
    return bits;
  };
  const array<std::uint16_t> da(narrow(a)), db(narrow(b));
  const array<float> dc(std::vector<float>(m * n * count, -1));
  const float alpha = 1, beta = 0;
  MUST(cublasGemmStridedBatchedEx(blas, N, N, m, n, k, &alpha, da.data(), CUDA_R_16BF, m, m * k, db.data(),
                                  CUDA_R_16BF, k, 0, &beta, dc.data(), CUDA_R_32F, m, m * n, count,
                                  CUBLAS_COMPUTE_32F, -1));
  MUST(cuStreamSynchronize(stream));
  const auto c = dc.values();
  for (int p = 0; p < count; ++p)
    for (int column = 0; column < n; ++column)
      for (int row = 0; row < m; ++row) {
        double sum = 0;
        for (int i = 0; i < k; ++i)
          sum += double{a[static_cast<std::size_t>(p * m * k + row + i * m)]} *
                 b[static_cast<std::size_t>(i + column * k)];
        REQUIRE(c[static_cast<std::size_t>(p * m * n + row + column * m)] == static_cast<float>(sum));
      }
  MUST(cuStreamDestroy_v2(stream));
}

TEST_CASE("cuBLAS' wrong calls are refused") {
  const session s;
  const handle blas;
  const array<float> x({1, 2, 3, 4});
  const float one = 1;
  float* const p = x.data();
  const auto gemm = [&](cublasHandle_t h, int m, int lda, const float* alpha) {
    return cublasSgemm_v2(h, N, N, m, 2, 2, alpha, p, lda, p, 2, &one, p, 2);
  };
  CHECK(gemm(nullptr, 2, 2, &one) == CUBLAS_STATUS_NOT_INITIALIZED);
  CHECK(gemm(blas, -1, 2, &one) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(blas, 2, 1, &one) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(blas, 2, 2, nullptr) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(gemm(blas, 2, 2, &one) == CUBLAS_STATUS_INVALID_VALUE);  // C shares memory with A
  CHECK(gemm(blas, 0, 2, &one) == CUBLAS_STATUS_SUCCESS);        // nothing to do
  CHECK(cublasCgemm_v2() == CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(cublasCreate_v2(nullptr) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(std::string(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED)) == "CUBLAS_STATUS_NOT_SUPPORTED");
  int version = 0;
  MUST(cublasGetVersion_v2(blas, &version));
  CHECK(version >= 120000);
}
