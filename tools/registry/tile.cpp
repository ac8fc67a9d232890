// Tiles in shared memory, in every layout.
#include "tests/kernels/mma/tile_kernels.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("tile", [] {
  using namespace tests;
  return images(
      tile_places<f32, 7, 5, row_major>, tile_places<f16, 24, 10, column_major>,
      tile_places<f32, 16, 20, padded<4>>, tile_places<f16, 32, 128, swizzled<128>>,
      tile_places<u8, 16, 128, swizzled<128>>, tile_places<f64, 16, 8, swizzled<64>>,
      tile_places<bf16, 16, 96, swizzled<64>>, tile_places<f32, 24, 24, swizzled<32>>,
      tile_pieces<f16, 16, 64, row_major>, tile_pieces<f16, 16, 64, padded<8>>,
      tile_pieces<f16, 16, 128, swizzled<128>>, tile_pieces<f32, 16, 16, swizzled<64>>,
      tile_pieces<u8, 16, 32, swizzled<32>>, tile_ring<f16, 32, 64, swizzled<128>, 3>,
      tile_ring<f16, 16, 128, swizzled<128>, 2>, tile_ring<u8, 24, 64, swizzled<64>, 2>,
      tile_ring<f32, 16, 24, swizzled<32>, 4>, tile_ring<f16, 32, 24, padded<8>, 3>,
      tile_ring<f16, 17, 16, row_major, 2>, tile_parts, tile_transpose<row_major>, tile_transpose<padded<4>>,
      tile_transpose<swizzled<128>>, tile_by_tensor_copy<f16, 16, 40, row_major>,
      tile_by_tensor_copy<f16, 24, 192, swizzled<128>>, tile_by_tensor_copy<f32, 64, 32, swizzled<128>>,
      tile_by_tensor_copy<u8, 16, 128, swizzled<128>>, tile_by_tensor_copy<e4m3, 16, 256, swizzled<128>>,
      tile_by_tensor_copy<bf16, 40, 64, swizzled<64>>, tile_by_tensor_copy<f32, 16, 40, swizzled<32>>);
});

}  // namespace
}  // namespace kaio::tools
