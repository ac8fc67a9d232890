#include <kaio/ops/cache/common/kernels.hpp>

#include "ops/families.hpp"

namespace kaio::ops {

std::vector<const ptx::kernel_image*> cache_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_cache_append_kernels(list);
  list_cache_copy_kernels(list);
  list_cache_rotary_kernels(list);
  list_cache_qk_norm_kernels(list);
  return list;
}

}  // namespace kaio::ops
