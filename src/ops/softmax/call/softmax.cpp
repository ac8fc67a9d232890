// Checks calls of softmax, log_softmax and their gradients before anything runs, and launches them.

#include <kaio/ops/softmax.hpp>
#include <kaio/runtime/device.hpp>

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "ops/families.hpp"
#include "ops/shared/row_checks.hpp"
#include "ops/softmax/simt/rows.hpp"

namespace kaio::ops {

namespace {

using detail::named_argument, detail::refuse, detail::same_view;

// Refuses a tensor without the element type and the extents of x, or whose rows have gaps.
void check_like(std::string_view operation, const validation& check, const named_argument& of,
                const any_view& x, std::string_view name_of_x) {
  const std::string argument = "argument " + std::string(of.name), x_name(name_of_x);
  if (of.view.rank != x.rank)
    refuse(operation, argument + " has " + std::to_string(of.view.rank) + " dimensions, and " + x_name +
                          " has " + std::to_string(x.rank));
  if (of.view.type != x.type)
    refuse(operation, argument + " has another element type than " + x_name + "; cast it");
  for (std::uint32_t d = 0; d < x.rank; ++d)
    check.extent(of.name, of.view, d, x.extents[d], "the extents of " + x_name);
  check_adjacent(operation, of.name, of.view);
}

void check_scale(std::string_view operation, f32 scale) {
  if (!std::isfinite(scale)) refuse(operation, "scale is not finite");
}

// One number for each row, with the strides of rows. If their distance is not the same everywhere, the plan
// learns of it.
row_strides numbers_of_rows(const any_view& numbers, rows_problem& rows) {
  row_strides result{numbers.address, 0, 0, 0};
  std::array<i64*, 3> places{&result.head, &result.token, &result.batch};
  i64 count = 1;
  for (std::uint32_t d = 0; d < numbers.rank; ++d) {
    const std::uint32_t from_last = numbers.rank - 1 - d;
    *places[d] = numbers.strides[from_last];
    if (numbers.extents[from_last] != 1 && numbers.strides[from_last] != result.head * count)
      rows.is_flat = 0;
    count *= numbers.extents[from_last];
  }
  return result;
}

void run_forward(std::string_view operation, const stream& s, const any_view& x, const any_view& y,
                 const softmax_options& options, bool is_log) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const detail::operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  const any_view& lse = options.lse;
  const bool has_lse = detail::is_given(lse);
  check.input("x", x);
  check.output("y", y);
  check_adjacent(operation, "x", x);
  check_like(operation, check, {"y", y}, x, "x");
  check_row_counts(operation, x);
  check_scale(operation, options.scale);
  if (!same_view(y, x)) check.apart("y", y, "x", x);
  if (has_lse) {
    check.output("lse", lse);
    if (lse.type != element_kind::f32) refuse(operation, "argument lse has another element type than f32");
    if (lse.rank != x.rank - 1)
      refuse(operation, "argument lse has " + std::to_string(lse.rank) + " dimensions, and x has " +
                            std::to_string(x.rank - 1) + " of rows");
    for (std::uint32_t d = 0; d + 1 < x.rank; ++d) check.extent("lse", lse, d, x.extents[d], "the rows of x");
    check.apart("lse", lse, "x", x);
    check.apart("lse", lse, "y", y);
  }
  row_plan plan = plan_rows(device, x, {&y}, {});
  if (plan.is_empty()) return;
  softmax_problem problem{};
  if (has_lse) problem.lse = numbers_of_rows(lse, plan.problem);
  problem.rows = plan.problem;
  problem.x = rows_of(x);
  problem.out = rows_of(y);
  problem.scale = options.scale;
  problem.is_log = is_log ? 1 : 0;
  variant_of(softmax_variants(), x.type, plan).run(s, plan, problem);
}

void run_backward(std::string_view operation, const stream& s, const any_view& y, const any_view& dy,
                  const any_view& dx, const softmax_backward_options& options, bool is_log) {
  const device_properties& device = s.properties();
  const detail::operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  check.input("y", y);
  check.input("dy", dy);
  check.output("dx", dx);
  check_adjacent(operation, "y", y);
  check_like(operation, check, {"dy", dy}, y, "y");
  check_like(operation, check, {"dx", dx}, y, "y");
  check_row_counts(operation, y);
  check_scale(operation, options.scale);
  if (!same_view(dx, y)) check.apart("dx", dx, "y", y);
  if (!same_view(dx, dy)) check.apart("dx", dx, "dy", dy);
  const row_plan plan = plan_rows(device, y, {&dy, &dx}, {}, row_staging::two_rows);
  if (plan.is_empty()) return;
  const softmax_backward_problem problem{.rows = plan.problem,
                                         .y = rows_of(y),
                                         .dy = rows_of(dy),
                                         .dx = rows_of(dx),
                                         .scale = options.scale,
                                         .is_log = is_log ? 1u : 0u};
  variant_of(softmax_backward_variants(), y.type, plan).run(s, plan, problem);
}

}  // namespace

namespace detail {

void run_softmax(const stream& s, const any_view& x, const any_view& y, const softmax_options& options) {
  run_forward("softmax", s, x, y, options, false);
}
void run_log_softmax(const stream& s, const any_view& x, const any_view& y, const softmax_options& options) {
  run_forward("log_softmax", s, x, y, options, true);
}
void run_softmax_backward(const stream& s, const any_view& y, const any_view& dy, const any_view& dx,
                          const softmax_backward_options& options) {
  run_backward("softmax_backward", s, y, dy, dx, options, false);
}
void run_log_softmax_backward(const stream& s, const any_view& y, const any_view& dy, const any_view& dx,
                              const softmax_backward_options& options) {
  run_backward("log_softmax_backward", s, y, dy, dx, options, true);
}

}  // namespace detail

void softmax_warmup(const runtime::device& gpu, element_kind kind) {
  if (!is_wide(kind))
    detail::refuse("softmax_warmup", "elements that softmax does not take; they are f32, f16 or bf16");
  const bool is_newer = gpu.properties().target.sm >= 90;
  for (const bool vectors : {false, true}) {
    row_plan plan;
    plan.vectors = vectors;
    plan.is_newer = is_newer;
    gpu.warmup(*variant_of(softmax_variants(), kind, plan).image);
    gpu.warmup(*variant_of(softmax_backward_variants(), kind, plan).image);
  }
}

std::vector<const ptx::kernel_image*> softmax_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_softmax_kernels(list);
  return list;
}

}  // namespace kaio::ops
