#pragma once
// Lists the kernels of the operations on caches.

#include <kaio/ptx/kernel_image.hpp>

#include <vector>

namespace kaio::ops {

void list_cache_append_kernels(std::vector<const ptx::kernel_image*>& list);
void list_cache_copy_kernels(std::vector<const ptx::kernel_image*>& list);
void list_cache_rotary_kernels(std::vector<const ptx::kernel_image*>& list);

}  // namespace kaio::ops
