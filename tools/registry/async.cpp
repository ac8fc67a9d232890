// Asynchronous copies, mbarriers, pipelines, warp roles and clusters.
#include "tests/kernels/async/async_kernels.hpp"
#include "tests/kernels/async/async_tensor_kernels.hpp"
#include "tests/kernels/async/cluster_kernels.hpp"
#include "tests/kernels/launch/launch_attributes_kernels.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("async", [] {
  using namespace tests;
  using enum ring_form;
  return images(mbarrier_rounds<80>, mbarrier_rounds<90>, cp_async_pieces<4>, cp_async_pieces<8>,
                cp_async_pieces<16>, cp_async_hinted, cp_async_sums<2>, cp_async_sums<5>, bulk_blocks,
                column_sums<1, plain>, column_sums<4, plain>, column_sums<3, peek>, column_sums<3, behind>,
                column_sums<4, threads>, handed_over, elected_lanes, load_box<f16, 16, 64, swizzled<128>>,
                load_box<u8, 16, 64, swizzled<64>>, load_box<i32, 9, 12, row_major>,
                move_box<bf16, 8, 16, swizzled<32>>, move_box<f32, 8, 16, swizzled<64>>, load_cube<1, 4>,
                load_cube<5, 4>, cluster_places<1, 1, 1>, cluster_places<2, 2, 1>, cluster_histogram<8>,
                cluster_exchange, multicast_sums<1, 2>, multicast_sums<4, 2>, report_cluster, fixed_triples,
                early_step);
});

}  // namespace
}  // namespace kaio::tools
