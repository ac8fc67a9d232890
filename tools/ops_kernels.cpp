// The kernels of the operations, for the program that precompiles them: cmake/kaio_ops.cmake.

#include <kaio/ops/attention/backward/choice/variant.hpp>
#include <kaio/ops/attention/choice/variant.hpp>
#include <kaio/ops/cache/common/kernels.hpp>
#include <kaio/ops/gate_up/gate_up.hpp>
#include <kaio/ops/matmul/choice/variant.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/qkv.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/tool/ptx_tool.hpp>

namespace {
const kaio::tool::family ops("ops", [] {
  auto list = kaio::ops::matmul_kernels();
  for (const auto* kernel : kaio::ops::attention_kernels()) list.push_back(kernel);
  for (const auto* kernel : kaio::ops::attention_backward_kernels()) list.push_back(kernel);
  for (const auto* kernel : kaio::ops::cache_kernels()) list.push_back(kernel);
  for (const auto* kernel : kaio::ops::matmul_fp8_kernels()) list.push_back(kernel);
  for (const auto* kernel : kaio::ops::matmul_int8_kernels()) list.push_back(kernel);
  for (const auto* kernel : kaio::ops::qkv_kernels()) list.push_back(kernel);
  for (const auto* kernel : kaio::ops::gate_up_kernels()) list.push_back(kernel);
  for (const auto* kernel : kaio::ops::rms_norm_kernels()) list.push_back(kernel);
  return list;
});
}

int main(int argc, char** argv) { return kaio::tool::run(argc, argv, {}); }
