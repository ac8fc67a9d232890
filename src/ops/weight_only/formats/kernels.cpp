#include "ops/weight_only/formats/kernels.hpp"
#include "ops/families.hpp"

#include <kaio/ops/weight_only/dequantise.hpp>

namespace kaio::ops {

void dequantise_warmup(const runtime::device& gpu) {
  warm_up_dequantise_blocks(gpu);
  warm_up_dequantise_codes(gpu);
  warm_up_repack_blocks(gpu);
}

std::vector<const ptx::kernel_image*> format_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_dequantise_blocks_kernels(list);
  list_dequantise_codes_kernels(list);
  list_quantise_blocks_kernels(list);
  list_quantise_w4_kernels(list);
  list_repack_blocks_kernels(list);
  return list;
}

}  // namespace kaio::ops
