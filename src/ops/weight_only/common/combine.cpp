// Launches the second kernel of matmul_w4, which adds up the splits of K.

#include <kaio/ops/weight_only/mma_sync/store.hpp>

#include <vector>

#include "ops/weight_only/common/families.hpp"

namespace kaio::ops {

const ptx::kernel_image& matmul_w4_combine_image(const device_properties& device) {
  return device.target.sm >= 90 ? matmul_w4_combine<90>.image() : matmul_w4_combine<70>.image();
}

void run_matmul_w4_combine(const stream& s, const w4_problem& problem) {
  const u32 fours = (problem.w.n + 3) / 4;
  const u32 along_n = (fours + w4_combine_threads - 1) / w4_combine_threads;
  const grid blocks(u64{along_n} * problem.m);
  if (s.properties().target.sm >= 90)
    matmul_w4_combine<90>.launch(s, blocks.programmatic(), problem);
  else
    matmul_w4_combine<70>.launch(s, blocks, problem);
}

void list_matmul_w4_combine_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&matmul_w4_combine<70>.image());
  list.push_back(&matmul_w4_combine<90>.image());
}

}  // namespace kaio::ops
