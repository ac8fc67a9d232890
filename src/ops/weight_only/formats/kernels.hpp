#pragma once
// Lists and warms up the kernels of the operations on file formats.

#include <kaio/ptx/kernel_image.hpp>

#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

void warm_up_dequantise_blocks(const runtime::device& gpu);
void warm_up_dequantise_codes(const runtime::device& gpu);
void list_dequantise_blocks_kernels(std::vector<const ptx::kernel_image*>& list);
void list_dequantise_codes_kernels(std::vector<const ptx::kernel_image*>& list);
void warm_up_quantise_w4(const runtime::device& gpu);
void warm_up_repack_blocks(const runtime::device& gpu);
void list_quantise_w4_kernels(std::vector<const ptx::kernel_image*>& list);
void list_repack_blocks_kernels(std::vector<const ptx::kernel_image*>& list);
void list_quantise_blocks_kernels(std::vector<const ptx::kernel_image*>& list);

}  // namespace kaio::ops
