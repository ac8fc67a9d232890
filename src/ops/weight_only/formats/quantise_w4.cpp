// quantise_weights into codes of four bits in groups: the checks and the launch.

#include <kaio/ops/weight_only/formats/quantise_w4.hpp>
#include <kaio/ops/weight_only/quantise_weights.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "ops/weight_only/formats/check.hpp"
#include "ops/weight_only/formats/kernels.hpp"

namespace kaio::ops {

namespace detail {

void run_quantise_w4(const stream& s, const any_view& w, const w4_output& to) {
  constexpr std::string_view operation = "quantise_weights";
  const operation_scope traced(operation);
  s.properties();  // a null stream is refused before anything is looked at
  const validation check(operation, s.device_identity());
  check.input("w", w);
  check_matrix(operation, "w", w);
  const std::int64_t n = w.extents[0], k = w.extents[1];
  const std::int64_t group = to.group == -1 ? k : to.group;
  if (n > 0 && k > 0 && (group <= 0 || k % group != 0 || (group % 16 != 0 && group != k)))
    refuse_format(operation, "groups of " + std::to_string(to.group) + " of rows of " + std::to_string(k) +
                                 "; a group is a multiple of 16 that divides them, or all of one (-1)");
  const std::int64_t groups = k == 0 ? 0 : k / group;
  const any_view codes = to.weight_packed, scales = to.weight_scale.view;
  const any_view zeros = to.weight_zero_point.is_null() ? any_view{} : any_view(to.weight_zero_point);
  check.output("weight_packed", codes);
  check.extent("weight_packed", codes, 0, n, "the rows of w");
  check.extent("weight_packed", codes, 1, (k + 7) / 8, "an eighth of the columns of w");
  check.apart("weight_packed", codes, "w", w);
  check.output("weight_scale", scales);
  check.extent("weight_scale", scales, 0, n, "the rows of w");
  check.extent("weight_scale", scales, 1, groups, "the groups of a row");
  check.apart("weight_scale", scales, "w", w);
  check.apart("weight_scale", scales, "weight_packed", codes);
  if (zeros.exists()) {
    check.output("weight_zero_point", zeros);
    check.extent("weight_zero_point", zeros, 0, (n + 7) / 8, "an eighth of the rows of w");
    check.extent("weight_zero_point", zeros, 1, groups, "the groups of a row");
    check.apart("weight_zero_point", zeros, "w", w);
    check.apart("weight_zero_point", zeros, "weight_packed", codes);
    check.apart("weight_zero_point", zeros, "weight_scale", scales);
  }
  if (n == 0 || k == 0) return;
  const std::int64_t eights = (group + 7) / 8;
  quantise_w4_problem p{};
  p.x = w.address;
  p.x_row = w.strides[0];
  p.type = element_type_of(w.type);
  p.x_by_16 = rows_begin_at(w, 16) && (group % 8 == 0 || groups == 1) ? 1 : 0;
  p.n = static_cast<u32>(n);
  p.k = static_cast<u32>(k);
  p.group = static_cast<u32>(group);
  p.lanes = static_cast<u32>(std::min<std::uint64_t>(32, std::bit_ceil(static_cast<std::uint64_t>(eights))));
  p.lanes_log2 = static_cast<u32>(std::countr_zero(p.lanes));
  p.steps = static_cast<u32>((eights + p.lanes - 1) / p.lanes);
  p.units = static_cast<u32>((n + 7) / 8 * groups);
  p.groups = divisor::of(static_cast<u32>(groups));
  p.codes = codes.address;
  p.codes_row = codes.strides[0];
  p.codes_column = codes.strides[1];
  p.scales = scales.address;
  p.scales_row = scales.strides[0];
  p.scales_column = scales.strides[1];
  p.scales_type = element_type_of(scales.type);
  p.zeros = zeros.address;
  p.zeros_row = zeros.strides[0];
  p.zeros_column = zeros.strides[1];
  quantise_w4_groups.launch(s, over(u64{p.units} << p.lanes_log2), p);
}

}  // namespace detail

void warm_up_quantise_w4(const runtime::device& gpu) { gpu.warmup(quantise_w4_groups.image()); }

void list_quantise_w4_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&quantise_w4_groups.image());
}

}  // namespace kaio::ops
