#pragma once
// The table of rms_norm's kernels.

#include <kaio/ops/norm/common/codes_problem.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <vector>

namespace kaio::ops {

template <class Problem>
struct rms_norm_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const Problem&) = nullptr;
};

// The kernels for x of f32, f16 or bf16: into x's type, and into codes.
const rms_norm_variant<rms_norm_problem>& rms_norm_variant_for(element_kind kind,
                                                               const device_properties& device);
const rms_norm_variant<rms_norm_codes_problem>& rms_norm_codes_variant_for(element_kind kind,
                                                                           const device_properties& device);

}  // namespace kaio::ops
