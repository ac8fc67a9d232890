// dequantise of separate codes and scales: the launch.

#include <kaio/ops/weight_only/dequantise.hpp>
#include <kaio/ops/weight_only/formats/dequantise_codes.hpp>
#include <kaio/runtime/device.hpp>

#include <vector>

#include "ops/weight_only/formats/kernels.hpp"
#include "ops/weight_only/formats/resolve.hpp"

namespace kaio::ops {

namespace detail {

void run_dequantise_codes(const stream& s, const code_source& source, const any_view& out) {
  const auto& properties = s.properties();
  const operation_scope traced("dequantise");
  const code_problem problem = resolve_codes(s.device_identity(), source, out);
  if (problem.eights == 0) return;
  if (properties.target.sm >= 80)
    dequantise_codes<80>.launch(s, over(problem.eights), problem);
  else
    dequantise_codes<70>.launch(s, over(problem.eights), problem);
}

}  // namespace detail

void warm_up_dequantise_codes(const runtime::device& gpu) {
  gpu.warmup(gpu.properties().target.sm >= 80 ? dequantise_codes<80>.image() : dequantise_codes<70>.image());
}

void list_dequantise_codes_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&dequantise_codes<70>.image());
  list.push_back(&dequantise_codes<80>.image());
}

}  // namespace kaio::ops
