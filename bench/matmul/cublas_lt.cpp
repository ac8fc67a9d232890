#include "bench/matmul/cublas_lt.hpp"

#include <cstdlib>
#include <stdexcept>

namespace kaio::bench {
namespace {

std::vector<std::string> names(const std::vector<std::string>& more) {
  const char* const given = std::getenv("KAIO_CUBLASLT");
  std::vector<std::string> result = {given != nullptr ? given : "", "libcublasLt.so.13", "libcublasLt.so.12"};
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

void check(lt::cublasStatus_t status, const char* call) {
  if (status != 0)
    throw std::runtime_error(std::string("kaio: ") + call + " failed with status " + std::to_string(status));
}

struct operand_types {
  lt::cudaDataType_t input, output;
  lt::cublasComputeType_t compute;
};

operand_types types_of(element e) {
  using namespace lt;
  switch (e) {
    case element::f16: return {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case element::bf16: return {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case element::e4m3: return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    case element::tf32: return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    default: return {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
  }
}

}  // namespace

cublas_lt::cublas_lt(const std::vector<std::string>& more, bool wanted)
    : library_(wanted ? names(more) : std::vector<std::string>{}) {
  if (!library_) return;
  using namespace lt;
  bool complete = true;
#define KAIO_LOAD(name, parameters)                                     \
  call_.name = library_.function<lt::cublasStatus_t parameters>(#name); \
  complete = complete && call_.name != nullptr;
  KAIO_CUBLAS_LT_FUNCTIONS(KAIO_LOAD)
#undef KAIO_LOAD
  call_.cublasLtGetVersion = library_.function<std::size_t()>("cublasLtGetVersion");
  if (complete && call_.cublasLtCreate(&handle_) != 0) handle_ = nullptr;
}

std::string cublas_lt::description() const {
  if (handle_ == nullptr) return "no cuBLASLt";
  const std::size_t version = call_.cublasLtGetVersion == nullptr ? 0 : call_.cublasLtGetVersion();
  return "cuBLASLt " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

// cuBLASLt thinks in columns: to it, row-major C is its transpose, and C^T = B^T A^T. So its left operand is
// our B, its right one our A, and a row-major operand is not transposed to it either. Its bias, one number
// for each row of C^T, is ours for each column of C; by default it is the same for the whole batch.
lt_plan::lt_plan(const cublas_lt& library, const problem& p, std::uint64_t workspace,
                 std::uint64_t workspace_bytes, std::uint64_t scales, std::uint64_t added)
    : library_(library), problem_(p), workspace_(workspace), workspace_bytes_(workspace_bytes) {
  const lt::functions& call = library_.call();
  const operand_types types = types_of(p.type);
  const bool is_fp8 = p.type == element::e4m3;
  for (int fast = 0; fast <= (is_fp8 ? 1 : 0); ++fast) {
    lt::cublasLtMatmulDesc_t description = nullptr;
    check(call.cublasLtMatmulDescCreate(&description, types.compute, lt::CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    descriptions_.push_back(description);
    set(description, lt::CUBLASLT_MATMUL_DESC_TRANSA, p.b_transposed ? lt::CUBLAS_OP_T : lt::CUBLAS_OP_N);
    set(description, lt::CUBLASLT_MATMUL_DESC_TRANSB, p.a_transposed ? lt::CUBLAS_OP_T : lt::CUBLAS_OP_N);
    if (p.has_bias()) {
      set(description, lt::CUBLASLT_MATMUL_DESC_EPILOGUE,
          p.epilogue == fused_epilogue::gelu_bias ? lt::CUBLASLT_EPILOGUE_GELU_BIAS
                                                  : lt::CUBLASLT_EPILOGUE_BIAS);
      set(description, lt::CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, types.output);
      set(description, lt::CUBLASLT_MATMUL_DESC_BIAS_POINTER, added);
    }
    if (!is_fp8) continue;
    set(description, lt::CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scales);
    set(description, lt::CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scales);
    set(description, lt::CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(fast));
  }
  left_ = p.b_transposed ? layout(types.input, p.k, p.n) : layout(types.input, p.n, p.k);
  right_ = p.a_transposed ? layout(types.input, p.m, p.k) : layout(types.input, p.k, p.m);
  output_ = layout(types.output, p.n, p.m);
  for (std::size_t d = 0; d < descriptions_.size(); ++d) propose(d);
}

lt_plan::~lt_plan() {
  const lt::functions& call = library_.call();
  for (lt::cublasLtMatmulDesc_t description : descriptions_) call.cublasLtMatmulDescDestroy(description);
  for (lt::cublasLtMatrixLayout_t one : {left_, right_, output_})
    if (one != nullptr) call.cublasLtMatrixLayoutDestroy(one);
}

void lt_plan::propose(std::size_t description) {
  const lt::functions& call = library_.call();
  lt::cublasLtMatmulPreference_t preference = nullptr;
  check(call.cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  check(call.cublasLtMatmulPreferenceSetAttribute(preference, lt::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                  &workspace_bytes_, sizeof workspace_bytes_),
        "cublasLtMatmulPreferenceSetAttribute");
  lt::cublasLtMatmulHeuristicResult_t results[requested] = {};
  int found = 0;
  const lt::cublasStatus_t status =
      call.cublasLtMatmulAlgoGetHeuristic(library_.handle(), descriptions_[description], left_, right_,
                                          output_, output_, preference, requested, results, &found);
  call.cublasLtMatmulPreferenceDestroy(preference);
  if (status != 0) return;  // there is none for this product
  for (int i = 0; i < found; ++i)
    if (results[i].state == 0) candidates_.push_back({results[i], description});
}

lt::cublasLtMatrixLayout_t lt_plan::layout(lt::cudaDataType_t type, std::int64_t rows,
                                           std::int64_t columns) const {
  const lt::functions& call = library_.call();
  lt::cublasLtMatrixLayout_t result = nullptr;
  check(call.cublasLtMatrixLayoutCreate(&result, type, static_cast<std::uint64_t>(rows),
                                        static_cast<std::uint64_t>(columns), rows),
        "cublasLtMatrixLayoutCreate");
  if (problem_.batch > 1) {
    const auto count = static_cast<std::int32_t>(problem_.batch);
    const std::int64_t distance = rows * columns;
    check(call.cublasLtMatrixLayoutSetAttribute(result, lt::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                sizeof count),
          "cublasLtMatrixLayoutSetAttribute");
    check(call.cublasLtMatrixLayoutSetAttribute(result, lt::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                &distance, sizeof distance),
          "cublasLtMatrixLayoutSetAttribute");
  }
  return result;
}

template <class T>
void lt_plan::set(lt::cublasLtMatmulDesc_t to, lt::cublasLtMatmulDescAttributes_t which,
                  const T& value) const {
  check(library_.call().cublasLtMatmulDescSetAttribute(to, which, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
}

bool lt_plan::run(std::size_t algorithm, std::uint64_t a, std::uint64_t b, std::uint64_t added,
                  std::uint64_t c, void* stream) const {
  const candidate& chosen = candidates_[algorithm];
  // D = alpha A B + beta C, where C is the residual
  const bool has_residual = problem_.epilogue == fused_epilogue::residual;
  const float alpha = 1.0f, beta = has_residual ? 1.0f : 0.0f;
  void* const output = reinterpret_cast<void*>(c);
  const void* const input = has_residual ? reinterpret_cast<const void*>(added) : output;
  if (problem_.has_bias())
    set(descriptions_[chosen.description], lt::CUBLASLT_MATMUL_DESC_BIAS_POINTER, added);
  return library_.call().cublasLtMatmul(
             library_.handle(), descriptions_[chosen.description], &alpha, reinterpret_cast<const void*>(b),
             left_, reinterpret_cast<const void*>(a), right_, &beta, input, output_, output, output_,
             &chosen.result.algo, reinterpret_cast<void*>(workspace_), chosen.result.workspaceSize,
             stream) == 0;
}

std::string lt_plan::name(std::size_t algorithm) const {
  std::string result = "algorithm " + std::to_string(algorithm + 1) + " of " + std::to_string(algorithms());
  if (candidates_[algorithm].description == 1) result += ", fast accumulation";
  return result;
}

}  // namespace kaio::bench
