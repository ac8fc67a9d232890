// Launches the steps of the heads on a product in memory.

#include <kaio/ops/qkv_project/heads/kernel.hpp>

#include <vector>

#include "ops/qkv_project/choice/variant.hpp"

namespace kaio::ops {

const ptx::kernel_image& qkv_heads_image(const device_properties& device) {
  return qkv_heads_image_for(device);
}

void run_qkv_heads(const stream& s, const qkv_problem& problem, const qkv_product& product) {
  launch_qkv_heads(s, problem, product);
}

void list_qkv_heads_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&qkv_heads<70>.image());
  list.push_back(&qkv_heads<qkv_heads_programmatic>.image());
}

}  // namespace kaio::ops
