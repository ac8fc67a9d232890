// The second kernel of matmul_w4.

#include <kaio/ops/quantised/w4/store.hpp>

#include <vector>

#include "ops/quantised/w4/variant.hpp"

namespace kaio::ops {

const ptx::kernel_image& matmul_w4_combine_image() { return matmul_w4_combine.image(); }

void run_matmul_w4_combine(const stream& s, const w4_problem& problem) {
  const u32 fours = (problem.w.n + 3) / 4;
  const u32 along_n = (fours + w4_combine_threads - 1) / w4_combine_threads;
  matmul_w4_combine.launch(s, grid(u64{along_n} * problem.m), problem);
}

void list_matmul_w4_combine_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&matmul_w4_combine.image());
}

}  // namespace kaio::ops
