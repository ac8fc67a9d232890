#include "ops/norm/simt/rows.hpp"

#include <kaio/ops/norm/simt/codes.hpp>
#include <kaio/ops/norm/simt/kernel.hpp>
#include <kaio/ops/shared/device_refusal.hpp>

#include <array>

namespace kaio::ops {

namespace {

constexpr u32 programmatic = 90;

constexpr const rms_norm_problem& norm_of(const rms_norm_problem& problem) { return problem; }
constexpr const rms_norm_problem& norm_of(const rms_norm_codes_problem& problem) { return problem.norm; }

template <const auto& Kernel, class Problem, u32 Sm>
rms_norm_variant<Problem> describe() {
  return {.image = &Kernel.image(), .run = [](const stream& s, const Problem& problem) {
            const grid blocks(row_blocks(norm_of(problem).rows, norm_of(problem).lanes_log));
            Kernel.launch(s, Sm >= programmatic ? blocks.programmatic() : blocks, problem);
          }};
}

// Rows: f32, f16, bf16. Columns: for every device; for devices with programmatic dependent launches.
template <class Problem>
using variants = std::array<std::array<rms_norm_variant<Problem>, 2>, 3>;

const variants<rms_norm_problem>& table() {
  using p = rms_norm_problem;
  static const variants<p> rows{{
      {describe<rms_norm_rows<f32, 70>, p, 70>(),
       describe<rms_norm_rows<f32, programmatic>, p, programmatic>()},
      {describe<rms_norm_rows<f16, 70>, p, 70>(),
       describe<rms_norm_rows<f16, programmatic>, p, programmatic>()},
      {describe<rms_norm_rows<bf16, 70>, p, 70>(),
       describe<rms_norm_rows<bf16, programmatic>, p, programmatic>()},
  }};
  return rows;
}
const variants<rms_norm_codes_problem>& table_of_codes() {
  using p = rms_norm_codes_problem;
  static const variants<p> rows{{
      {describe<rms_norm_code_rows<f32, 70>, p, 70>(),
       describe<rms_norm_code_rows<f32, programmatic>, p, programmatic>()},
      {describe<rms_norm_code_rows<f16, 70>, p, 70>(),
       describe<rms_norm_code_rows<f16, programmatic>, p, programmatic>()},
      {describe<rms_norm_code_rows<bf16, 70>, p, 70>(),
       describe<rms_norm_code_rows<bf16, programmatic>, p, programmatic>()},
  }};
  return rows;
}

template <class Problem>
const rms_norm_variant<Problem>& variant_of(const variants<Problem>& all, element_kind kind,
                                            const device_properties& device) {
  const auto& of_kind = all[kind == element_kind::f32 ? 0 : kind == element_kind::f16 ? 1 : 2];
  const bool later = runs_on(*of_kind[1].image, device);
  return of_kind[later ? 1 : 0];
}

}  // namespace

const rms_norm_variant<rms_norm_problem>& rms_norm_variant_for(element_kind kind,
                                                               const device_properties& device) {
  return variant_of(table(), kind, device);
}
const rms_norm_variant<rms_norm_codes_problem>& rms_norm_codes_variant_for(element_kind kind,
                                                                           const device_properties& device) {
  return variant_of(table_of_codes(), kind, device);
}

void list_rms_norm_kernels(std::vector<const ptx::kernel_image*>& list) {
  const auto add = [&](const auto& all) {
    for (const auto& of_kind : all)
      for (const auto& v : of_kind) list.push_back(v.image);
  };
  add(table());
  add(table_of_codes());
}

}  // namespace kaio::ops
