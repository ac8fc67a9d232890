#include "ops/rms_norm/rows.hpp"

#include <kaio/ops/rms_norm/kernel.hpp>

#include <array>

namespace kaio::ops {

namespace {

constexpr u32 programmatic = 90;

template <class T, u32 Sm>
rms_norm_variant describe() {
  return {.image = &rms_norm_rows<T, Sm>.image(),
          .run = [](const stream& s, const rms_norm_problem& problem) {
            const grid blocks(row_blocks(problem.rows, problem.lanes_log));
            if constexpr (Sm >= programmatic)
              rms_norm_rows<T, Sm>.launch(s, blocks.programmatic(), problem);
            else
              rms_norm_rows<T, Sm>.launch(s, blocks, problem);
          }};
}

// Of f32, f16, bf16: for each device, and programmatic.
const std::array<std::array<rms_norm_variant, 2>, 3>& table() {
  static const std::array<std::array<rms_norm_variant, 2>, 3> rows{{
      {describe<f32, 70>(), describe<f32, programmatic>()},
      {describe<f16, 70>(), describe<f16, programmatic>()},
      {describe<bf16, 70>(), describe<bf16, programmatic>()},
  }};
  return rows;
}

}  // namespace

const rms_norm_variant& rms_norm_variant_for(element_kind kind, const device_properties& device) {
  const auto& of_kind = table()[kind == element_kind::f32 ? 0 : kind == element_kind::f16 ? 1 : 2];
  const bool later =
      device.target.sm >= programmatic && !(device.ptx_version < of_kind[1].image->needs.version);
  return of_kind[later ? 1 : 0];
}

void list_rms_norm_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const auto& of_kind : table())
    for (const rms_norm_variant& v : of_kind) list.push_back(v.image);
}

}  // namespace kaio::ops
