#pragma once
// Loads the kernels of the operations on file formats.

#include <kaio/ptx/kernel_image.hpp>

#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

void warm_up_dequantise_blocks(const runtime::device& gpu);
void warm_up_dequantise_codes(const runtime::device& gpu);
void warm_up_quantise_w4(const runtime::device& gpu);
void warm_up_repack_blocks(const runtime::device& gpu);

}  // namespace kaio::ops
