// Warps and blocks: shuffles, votes, reductions, scans, barriers.
#include "tests/kernels/block/block_kernels.hpp"
#include "tests/kernels/kernels.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("warp", [] {
  using namespace tests;
  return images(transpose, shuffles<f32>, shuffles<i64>, reductions<f32, 1>, reductions<f32, 48>,
                reductions<f64, 256>, reductions<i32, 1000>, reductions<u64, 1024>, repeated_reduction,
                every_shuffle<u8>, every_shuffle<i16>, every_shuffle<f16>, every_shuffle<bf16x2>,
                every_shuffle<f64>, shuffled_aggregate, votes<70>, votes<90>, warp_folds<64, 32>,
                warp_folds<48, 16>, warp_folds<55, 32>, warp_folds<85, 4>, integer_folds<u32, 64, 70>,
                integer_folds<i8, 45, 80>, integer_folds<u32, 1024, 80>, narrow_folds, block_folds<33>,
                block_folds<16, 10>, block_folds<5, 7, 3>, block_folds<1000>, block_folds<1024>,
                exchanges_in_turn, block_votes, ring);
});

}  // namespace
}  // namespace kaio::tools
