#pragma once
// The kernels of the operations on caches, for tools.

#include <kaio/ptx/kernel_image.hpp>

#include <vector>

namespace kaio::ops {

std::vector<const ptx::kernel_image*> cache_kernels();

}  // namespace kaio::ops
