#include "tools/registry.hpp"

#include <algorithm>

namespace kaio::tools {

image_list all_kernels() {
  image_list all;
  for (const auto family : {showcase_kernels, arithmetic_kernels, bit_kernels, math_kernels, control_kernels,
                            memory_kernels, warp_kernels, tile_kernels, async_kernels, mma_kernels,
                            wgmma_kernels, instruction_kernels, matmul_kernels}) {
    const image_list list = family();
    all.insert(all.end(), list.begin(), list.end());
  }
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  return all;
}

}  // namespace kaio::tools
