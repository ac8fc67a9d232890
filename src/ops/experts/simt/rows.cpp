#include "ops/experts/simt/rows.hpp"

#include <kaio/ops/experts/simt/combine.hpp>
#include <kaio/ops/experts/simt/order.hpp>
#include <kaio/ops/experts/simt/router.hpp>

#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

void launch_router(const stream& s, const router_problem& problem) {
  const u32 blocks = (problem.tokens + router_warps - 1) / router_warps;
  router_tokens<>.launch(s, grid(blocks).shared_bytes(router_shared_bytes(problem.experts)), problem);
}

void launch_expert_order(const stream& s, const expert_order_problem& problem) {
  const grid blocks = grid(problem.blocks).shared_bytes(order_shared_bytes(problem.experts));
  if (problem.blocks > 1) count_experts<>.launch(s, blocks, problem);
  place_experts<>.launch(s, blocks, problem);
}

void launch_combine(const stream& s, element_kind y, const combine_problem& problem) {
  const grid blocks(row_blocks(std::uint64_t{problem.tokens} * problem.parts.value, problem.lanes_log));
  switch (y) {
    case element_kind::f16: return combine_rows<f16>.launch(s, blocks, problem);
    case element_kind::bf16: return combine_rows<bf16>.launch(s, blocks, problem);
    default: return combine_rows<f32>.launch(s, blocks, problem);
  }
}

const ptx::kernel_image& router_image() { return router_tokens<>.image(); }
const ptx::kernel_image& expert_count_image() { return count_experts<>.image(); }
const ptx::kernel_image& expert_place_image() { return place_experts<>.image(); }
const ptx::kernel_image& combine_image(element_kind y) {
  switch (y) {
    case element_kind::f16: return combine_rows<f16>.image();
    case element_kind::bf16: return combine_rows<bf16>.image();
    default: return combine_rows<f32>.image();
  }
}

void list_experts_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const ptx::kernel_image* image : {&router_image(), &expert_count_image(), &expert_place_image()})
    list.push_back(image);
  for (const element_kind kind : {element_kind::f32, element_kind::f16, element_kind::bf16})
    list.push_back(&combine_image(kind));
}

}  // namespace kaio::ops
