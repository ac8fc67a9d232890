// Checks calls of gate_up_grouped before anything runs, and launches them.

#include <kaio/ops/gate_up_grouped.hpp>
#include <kaio/runtime/device.hpp>

#include <string_view>

#include "ops/families.hpp"
#include "ops/matmul_grouped/call/checks.hpp"
#include "ops/matmul_grouped/common/gate.hpp"

namespace kaio::ops {

namespace detail {

void run_gate_up_grouped(const stream& s, const any_view& x, const any_view& gate, const any_view& up,
                         const any_view& offsets, const any_view& y, const gate_up_grouped_options& options) {
  constexpr std::string_view operation = "gate_up_grouped";
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  check.input("x", x);
  check.input("gate", gate);
  check.input("up", up);
  check.input("offsets", offsets);
  check.output("y", y);
  if (gate.type != x.type) refuse(operation, "argument gate has another element type than x; cast it");
  if (up.type != x.type) refuse(operation, "argument up has another element type than x; cast it");
  if (y.type != x.type && y.type != element_kind::f32)
    refuse(operation, "argument y has another element type than x, and is not f32; cast it");
  check.extent("gate", gate, 1, x.extents[1], "the columns of x");
  for (std::uint32_t d = 0; d < 3; ++d) check.extent("up", up, d, gate.extents[d], "that of gate");
  check.extent("offsets", offsets, 0, gate.extents[0] + 1, "the groups of gate, and one");
  check.extent("y", y, 1, gate.extents[2], "the columns of gate");
  grouped_call call{x, gate, offsets, y};
  call.indices = checked_rows(check, operation, x, y, "x", "y", options.rows);
  call.bias = checked_bias(check, operation, gate, y, "gate_bias", "y", options.gate_bias);
  call.up = up;
  call.up_bias = checked_bias(check, operation, gate, y, "up_bias", "y", options.up_bias);
  check_adjacent(operation, "offsets", offsets);
  for (std::uint32_t d = 0; d < 2; ++d) check.at_most("x", x, d, most_grouped);
  check.at_most("gate", gate, 0, most_grouped - 1);
  for (std::uint32_t d = 0; d < 2; ++d) check.at_most("y", y, d, most_grouped);
  check.apart("y", y, "x", x);
  check.apart("y", y, "gate", gate);
  check.apart("y", y, "up", up);
  check.apart("y", y, "offsets", offsets);
  call.terms = checked_gate(operation, "activation", options.activation, options.alpha, options.limit,
                            options.up_offset);
  if (y.empty() || call.groups() == 0) return;
  launch_grouped(operation, s, call);
}

}  // namespace detail

void gate_up_grouped_warmup(const runtime::device& gpu) {
  for (const ptx::kernel_image* image : gate_up_grouped_kernels())
    if (runs_on(*image, gpu.properties())) gpu.warmup(*image);
}

std::vector<const ptx::kernel_image*> gate_up_grouped_kernels() {
  std::vector<const ptx::kernel_image*> list{&gate_up_sm90_image()};
  for (const ptx::kernel_image* image : gate_up_mma_images()) list.push_back(image);
  list.push_back(&gate_up_simt_image());
  return list;
}

}  // namespace kaio::ops
