#pragma once
// Every kernel of the repository: what kaio-tool lists and prints, and what ptxas is asked to assemble. A kernel
// that stands in no list is not verified, so each gets its line in one of tools/registry/.

#include <kaio/ptx/kernel_image.hpp>

#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>

#include <vector>

namespace kaio::tools {

using image_list = std::vector<const ptx::kernel_image*>;

image_list showcase_kernels();
image_list arithmetic_kernels();
image_list bit_kernels();
image_list math_kernels();
image_list control_kernels();
image_list memory_kernels();
image_list warp_kernels();
image_list tile_kernels();
image_list async_kernels();
image_list mma_kernels();
image_list wgmma_kernels();
image_list instruction_kernels();
image_list matmul_kernels();

// All of them, in the order of their names.
image_list all_kernels();

// The images of the kernels of a Hana tuple.
template <class Kernels>
image_list images(const Kernels& kernels) {
  image_list list;
  boost::hana::for_each(kernels, [&](const auto& kernel) { list.push_back(&kernel.image()); });
  return list;
}

}  // namespace kaio::tools
