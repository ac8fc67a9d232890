#include <kaio/ops/sampling/simt/top_k.hpp>
#include <kaio/ops/shared/device_refusal.hpp>

#include <array>
#include <vector>

#include "ops/sampling/simt/describe.hpp"

namespace kaio::ops {

namespace {

// For every device; for devices with clusters.
const std::array<sample_variant<top_k_problem>, 2>& table() {
  using p = top_k_problem;
  static const std::array<sample_variant<p>, 2> rows{describe_team_kernel<top_k_rows<70>, p, 70>(),
                                                     describe_team_kernel<top_k_rows<90>, p, 90>()};
  return rows;
}

}  // namespace

const sample_variant<top_k_problem>& top_k_variant_for(const device_properties& device) {
  return table()[runs_on(*table()[1].image, device) ? 1 : 0];
}

void list_top_k_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const auto& v : table()) list.push_back(v.image);
}

}  // namespace kaio::ops
