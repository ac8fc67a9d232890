// The launch of the steps of the heads on a product in memory.

#include <kaio/ops/qkv/heads.hpp>

#include <vector>

#include "ops/qkv/variant.hpp"

namespace kaio::ops {

namespace {

constexpr u32 programmatic = 90;

bool is_programmatic(const device_properties& device) {
  return device.target.sm >= programmatic &&
         !(device.ptx_version < qkv_heads<programmatic>.image().needs.version);
}

}  // namespace

const ptx::kernel_image& qkv_heads_image(const device_properties& device) {
  return is_programmatic(device) ? qkv_heads<programmatic>.image() : qkv_heads<70>.image();
}

void run_qkv_heads(const stream& s, const qkv_problem& problem, const qkv_product& product) {
  const auto blocks = grid(row_blocks(problem.append.rows, problem.append.lanes_log));
  if (is_programmatic(s.properties()))
    qkv_heads<programmatic>.launch(
        s, grid(row_blocks(problem.append.rows, problem.append.lanes_log)).programmatic(), problem, product);
  else
    qkv_heads<70>.launch(s, blocks, problem, product);
}

void list_qkv_heads_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&qkv_heads<70>.image());
  list.push_back(&qkv_heads<programmatic>.image());
}

}  // namespace kaio::ops
