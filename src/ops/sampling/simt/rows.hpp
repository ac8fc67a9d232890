#pragma once
// The kernels of sample and top_k.

#include <kaio/ops/sampling/common/top_k_problem.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

namespace kaio::ops {

template <class Problem>
struct sample_variant {
  const ptx::kernel_image* image = nullptr;
  bool has_clusters = false;
  // teams: of `blocks` blocks; 1 without clusters.
  void (*run)(const stream&, const Problem&, u32 teams, u32 blocks) = nullptr;
};

const sample_variant<sample_problem>& sample_variant_for(const device_properties& device);
const sample_variant<top_k_problem>& top_k_variant_for(const device_properties& device);

}  // namespace kaio::ops
