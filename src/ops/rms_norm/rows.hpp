#pragma once
// The kernels of rms_norm, as data.

#include <kaio/ops/rms_norm/problem.hpp>
#include <kaio/ops/tensor/any_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <vector>

namespace kaio::ops {

struct rms_norm_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const rms_norm_problem&) = nullptr;
};

// Of f32, f16 and bf16.
const rms_norm_variant& rms_norm_variant_for(element_kind kind, const device_properties& device);
void list_rms_norm_kernels(std::vector<const ptx::kernel_image*>& list);

}  // namespace kaio::ops
