#include <kaio/ops/matmul_w4.hpp>

#include <vector>

#include "ops/quantised/w4/variant.hpp"

namespace kaio::ops {

std::vector<const ptx::kernel_image*> w4_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const auto family : {matmul_w4_mma_f16, matmul_w4_mma_bf16})
    for (const w4_variant& v : family()) list.push_back(v.image);
  list.push_back(&matmul_w4_combine_image());
  list_w4_repack_kernels(list);
  return list;
}

}  // namespace kaio::ops
