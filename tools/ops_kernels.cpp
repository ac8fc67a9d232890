// The kernels of the operations, for the program that precompiles them: cmake/kaio_ops.cmake.

#include <kaio/ops/activation.hpp>
#include <kaio/ops/attention/backward/choice/variant.hpp>
#include <kaio/ops/attention/forward/choice/variant.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/cache/common/kernels.hpp>
#include <kaio/ops/copy.hpp>
#include <kaio/ops/cross_entropy.hpp>
#include <kaio/ops/gate_up_grouped.hpp>
#include <kaio/ops/gate_up_project.hpp>
#include <kaio/ops/int8_dequant.hpp>
#include <kaio/ops/matmul/choice/variant.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_fp8_grouped.hpp>
#include <kaio/ops/matmul_grouped.hpp>
#include <kaio/ops/matmul_grouped_backward.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/matmul_w4_grouped.hpp>
#include <kaio/ops/norm_backward.hpp>
#include <kaio/ops/qkv_project.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/sample.hpp>
#include <kaio/ops/softmax.hpp>
#include <kaio/ops/top_k.hpp>
#include <kaio/ops/topk_router.hpp>
#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/tool/ptx_tool.hpp>

namespace {
const kaio::tool::family ops("ops", [] {
  auto list = kaio::ops::matmul_kernels();
  for (const auto& more : {kaio::ops::attention_kernels(),
                           kaio::ops::attention_backward_kernels(),
                           kaio::ops::attention_decode_kernels(),
                           kaio::ops::cache_kernels(),
                           kaio::ops::format_kernels(),
                           kaio::ops::gate_up_project_kernels(),
                           kaio::ops::matmul_fp8_kernels(),
                           kaio::ops::matmul_int8_kernels(),
                           kaio::ops::qkv_project_kernels(),
                           kaio::ops::rms_norm_kernels(),
                           kaio::ops::activation_kernels(),
                           kaio::ops::cross_entropy_kernels(),
                           kaio::ops::norm_backward_kernels(),
                           kaio::ops::softmax_kernels(),
                           kaio::ops::copy_kernels(),
                           kaio::ops::int8_dequant_kernels(),
                           kaio::ops::sample_kernels(),
                           kaio::ops::top_k_kernels(),
                           kaio::ops::expert_kernels(),
                           kaio::ops::matmul_grouped_kernels(),
                           kaio::ops::gate_up_grouped_kernels(),
                           kaio::ops::matmul_grouped_backward_kernels(),
                           kaio::ops::grouped_bytes_kernels(),
                           kaio::ops::w4_grouped_kernels(),
                           kaio::ops::w4_kernels()})
    list.insert(list.end(), more.begin(), more.end());
  return list;
});
}

int main(int argc, char** argv) { return kaio::tool::run(argc, argv, {}); }
