// The matrix multiplication of a warpgroup.
#include "tests/kernels/mma/wgmma_control_kernels.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("wgmma", [] {
  using namespace tests;
  constexpr major k = major::k, mn = major::mn;
  return images(wgmma_product<wgmma_case<f32, f16, f16, 64, k, 128, k, 128>>,
                wgmma_product<wgmma_case<f16, f16, f16, 64, mn, 64, mn, 64, 2>>,
                wgmma_product<wgmma_case<f32, bf16, bf16, 192, mn, 128, mn, 128, 1>>,
                wgmma_product<wgmma_case<f32, f16, f16, 256, k, 32, k, 32, 1>>,
                wgmma_product<wgmma_case<f32, tf32, tf32, 24>>,
                wgmma_product<wgmma_case<f32, e4m3, e5m2, 8, k, 32, k, 128, 4>>,
                wgmma_product<wgmma_case<f16, e5m2, e4m3, 16, k, 128, k, 64, 4>>,
                wgmma_product<wgmma_case<i32, u8, i8, 8, k, 64, k, 64, 2>>,
                wgmma_product<wgmma_case<i32, b1, b1, 16>>,
                wgmma_product<wgmma_case<i32, i8, i8, 8, k, 32, k, 32, 1>, wgmma_options{.saturate = true}>,
                wgmma_pipeline, wgmma_parts, wgmma_from_registers<bf16, bf16, f32, 32, mn>,
                wgmma_from_registers<tf32, tf32, f32, 8>, wgmma_from_registers<i8, u8, i32, 8>,
                wgmma_from_registers<b1, b1, i32, 8>, wgmma_chain, wgmma_stored, wgmma_by_descriptor,
                wgmma_sparse<wgmma_case<f32, f16, f16, 32>, 1>,
                wgmma_sparse<wgmma_case<i32, i8, u8, 8, k, 128, k, 128, 8>, 0>,
                wgmma_sparse<wgmma_case<f32, tf32, tf32, 16>, 0>);
});

}  // namespace
}  // namespace kaio::tools
