// Traces every kernel of the repository natively, and writes the texts to a folder: they have to be those
// that the compiler evaluated, to the byte. It is built with overlay/ in front of the language's headers.
//
//   kernel_texts DIR && identical.py DIR KAIO_TOOL_DUMP

#include "tests/native/native_kernel.hpp"
#include "tools/registry.hpp"

#if KAIO_BUILD_OPS
#include <kaio/ops/attention/backward/choice/variant.hpp>
#include <kaio/ops/attention/choice/variant.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/cache/common/kernels.hpp>
#include <kaio/ops/gate_up.hpp>
#include <kaio/ops/matmul/choice/variant.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/qkv.hpp>
#include <kaio/ops/quantised/dequantise.hpp>
#include <kaio/ops/rms_norm.hpp>
#endif

#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>

#if KAIO_BUILD_OPS
namespace kaio::ops {
void list_attention_merge_kernels(std::vector<const ptx::kernel_image*>& list);
}
#endif

namespace kaio::dsl {

const ptx::kernel_image& keep_native_image(std::string_view name, block_size block,
                                           const kernel_options& options,
                                           std::vector<ptx::parameter> parameters,
                                           const std::function<void(tracer&)>& body) {
  static std::deque<tests::native::native_kernel> kept;
  kept.push_back(tests::native::trace_entry(name, block, options, std::move(parameters), body));
  return kept.back().image();
}

}  // namespace kaio::dsl

// The families of tools/registry/ come here, and not to the program that prints them.
namespace kaio::tool {
namespace {

std::vector<image_list (*)()>& families() {
  static std::vector<image_list (*)()> all;
  return all;
}

image_list all_kernels() {
  image_list all;
  for (const auto kernels : families())
    for (const ptx::kernel_image* const kernel : kernels()) all.push_back(kernel);
#if KAIO_BUILD_OPS
  for (const ptx::kernel_image* const kernel : ops::matmul_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::attention_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::attention_backward_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::attention_decode_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::cache_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::matmul_fp8_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::matmul_int8_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::w4_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::format_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::qkv_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::gate_up_kernels()) all.push_back(kernel);
  for (const ptx::kernel_image* const kernel : ops::rms_norm_kernels()) all.push_back(kernel);
  std::vector<const ptx::kernel_image*> merge;
  ops::list_attention_merge_kernels(merge);
  all.insert(all.end(), merge.begin(), merge.end());
#endif
  return all;
}

}  // namespace

family::family(std::string_view, image_list (*kernels)()) { families().push_back(kernels); }

}  // namespace kaio::tool

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  const auto kernels = kaio::tool::all_kernels();
  for (const kaio::ptx::kernel_image* kernel : kernels) {
    std::ofstream file(folder / (std::string(kernel->name) + ".ptx"), std::ios::binary);
    for (std::size_t i = 0; i < kernel->segment_count; ++i) file << kernel->segments[i];
    if (!file.good()) return 1;
  }
  std::cout << kernels.size() << " kernels in " << folder.string() << '\n';
}
