#pragma once
// cuBLASLt where it is installed: the library is loaded at run time, and nothing of CUDA is needed to build.
// A plan is one product with all the algorithms that the library's heuristic proposes for it; the benchmark
// times each and keeps the best.
//
//   const cublas_lt library({});
//   lt_plan plan(library, p, workspace.address(), workspace_bytes, ones.address(), bias.address());
//   plan.run(i, a, b, bias, c, stream);

#include "bench/matmul/cublas_lt_abi.hpp"
#include "bench/matmul/problem.hpp"
#include "bench/matmul/shared_library.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kaio::bench {

class cublas_lt {
 public:
  // The file in KAIO_CUBLASLT, the names of versions 13 and 12, or one of `more`; nothing where it is not
  // asked for.
  explicit cublas_lt(const std::vector<std::string>& more, bool wanted = true);

  explicit operator bool() const { return handle_ != nullptr; }
  const lt::functions& call() const { return call_; }
  lt::cublasLtHandle_t handle() const { return handle_; }
  // "cuBLASLt 13.1.0"
  std::string description() const;

 private:
  shared_library library_;
  lt::functions call_;
  lt::cublasLtHandle_t handle_ = nullptr;
};

class lt_plan {
 public:
  static constexpr int requested = 32;  // algorithms

  // `scales`: device memory with an f32 of 1, for fp8. `added`: a bias or residual as run() will get it; the
  // library looks at its alignment only.
  lt_plan(const cublas_lt& library, const problem& p, std::uint64_t workspace, std::uint64_t workspace_bytes,
          std::uint64_t scales, std::uint64_t added);
  ~lt_plan();
  lt_plan(const lt_plan&) = delete;
  lt_plan& operator=(const lt_plan&) = delete;

  // 0 where the library has none for this product.
  std::size_t algorithms() const { return candidates_.size(); }
  // Puts the product into the stream; false where the algorithm is refused. `added`: the bias or residual,
  // where the problem's epilogue has one.
  bool run(std::size_t algorithm, std::uint64_t a, std::uint64_t b, std::uint64_t added, std::uint64_t c,
           void* stream) const;
  // Which one it is: "2 of 31, fast accumulation".
  std::string name(std::size_t algorithm) const;

 private:
  struct candidate {
    lt::cublasLtMatmulHeuristicResult_t result;
    std::size_t description;
  };
  void propose(std::size_t description);
  lt::cublasLtMatrixLayout_t layout(lt::cudaDataType_t type, std::int64_t rows, std::int64_t columns) const;
  template <class T>
  void set(lt::cublasLtMatmulDesc_t to, lt::cublasLtMatmulDescAttributes_t which, const T& value) const;

  const cublas_lt& library_;
  problem problem_;
  std::uint64_t workspace_, workspace_bytes_;
  std::vector<lt::cublasLtMatmulDesc_t> descriptions_;  // fp8: without and with fast accumulation
  lt::cublasLtMatrixLayout_t left_ = nullptr, right_ = nullptr, output_ = nullptr;
  std::vector<candidate> candidates_;
};

}  // namespace kaio::bench
