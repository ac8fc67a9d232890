// The kernels of the benchmarks: those that bench/instructions compares with CUDA C++, and those around the
// products of bench/matmul.
#include "bench/instructions/kernels.hpp"
#include "bench/matmul/kaio_design.hpp"
#include "bench/matmul/kernels.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("instructions", [] {
  using namespace bench;
  image_list all = images_in(bench::instruction_kernels);
  const image_list products =
      images(kaio_design<f16>, kaio_design<bf16>, fill_normal<f16>, fill_normal<bf16>, fill_normal<e4m3>,
             fill_normal<f32>, poison<f16>, poison<bf16>, poison<f32>, displace_cache, squared_distance<f16>,
             squared_distance<bf16>, squared_distance<f32>, sample_product<f16, f16>,
             sample_product<f16, f32>, sample_product<bf16, bf16>, sample_product<bf16, f32>,
             sample_product<e4m3, bf16>, sample_product<f32, f32>, scale_elements<f16>, scale_elements<bf16>,
             sample_term<f16>, sample_term<bf16>);
  all.insert(all.end(), products.begin(), products.end());
  return all;
});

}  // namespace
}  // namespace kaio::tools
