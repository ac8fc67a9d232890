#include "ops/gate_up_project/combine/combine.hpp"
#include <kaio/ops/shared/device_refusal.hpp>

namespace kaio::ops {

namespace {

constexpr u32 programmatic = 90;

bool is_programmatic(const device_properties& device) {
  return runs_on(gate_up_combine<programmatic>.image(), device);
}

}  // namespace

const ptx::kernel_image& gate_up_combine_image(const device_properties& device) {
  return is_programmatic(device) ? gate_up_combine<programmatic>.image() : gate_up_combine<70>.image();
}

void run_gate_up_combine(const stream& s, const gate_up_problem& problem, std::uint64_t blocks) {
  if (is_programmatic(s.properties()))
    gate_up_combine<programmatic>.launch(s, grid(blocks).programmatic(), problem);
  else
    gate_up_combine<70>.launch(s, grid(blocks), problem);
}

void list_gate_up_combine_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&gate_up_combine<70>.image());
  list.push_back(&gate_up_combine<programmatic>.image());
}

}  // namespace kaio::ops
