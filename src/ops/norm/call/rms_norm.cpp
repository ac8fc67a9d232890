// Checks calls of rms_norm before anything runs, and launches them.

#include <kaio/ops/rms_norm.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "ops/families.hpp"
#include "ops/norm/simt/rows.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

constexpr std::string_view operation = "rms_norm";
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

// Strides of the first `dimensions`, up to three: they count rows.
row_strides strides_of_rows(const any_view& v, std::uint32_t dimensions) {
  std::array<i64, 3> strides{};  // batches, tokens, heads
  for (std::uint32_t d = 0; d < dimensions; ++d) strides[3 - dimensions + d] = v.strides[d];
  return {v.address, strides[0], strides[1], strides[2]};
}

void check_lines(std::string_view name, const any_view& v) {
  const std::uint32_t last = v.rank - 1;
  if (v.strides[last] != 1 && v.extents[last] > 1)
    detail::refuse(operation, "argument " + std::string(name) + " has stride " +
                                  std::to_string(v.strides[last]) +
                                  " along its last dimension; neighbours of a row are adjacent: stride 1");
}

// Checks everything except scales, and returns the kernel's parameters. If there is nothing to do, rows is 0.
rms_norm_problem resolve(const stream& s, const any_view& x, const any_view& weight,
                         std::string_view out_name, const any_view& out, const rms_norm_options& options) {
  using detail::begins_at, detail::check_epsilon, detail::is_given, detail::refuse;
  const validation check(operation, s.device_identity());
  const any_view &residual = options.residual, &residual_out = options.residual_out;
  const bool adds = is_given(residual), writes = is_given(residual_out), has_codes = is_quantised(out.type);
  check.input("x", x);
  check.input("weight", weight);
  check.output(out_name, out);
  if (adds) check.input("residual", residual);
  if (writes) check.output("residual_out", residual_out);
  if (writes && !adds) refuse(operation, "residual_out is given without residual; give both");
  const std::uint32_t last = x.rank - 1;
  check_epsilon(operation, "epsilon", options.epsilon);
  check_lines("x", x);
  check_lines("weight", weight);
  check.extent("weight", weight, 0, x.extents[last], "the last extent of x");
  for (const auto& [name, v] : {std::pair{out_name, &out}, std::pair{std::string_view("residual"), &residual},
                                std::pair{std::string_view("residual_out"), &residual_out}}) {
    if (!is_given(*v)) continue;
    if (v->rank != x.rank)
      refuse(operation, "argument " + std::string(name) + " has " + std::to_string(v->rank) +
                            " dimensions, and x has " + std::to_string(x.rank));
    if (v->type != x.type && !(v == &out && has_codes))
      refuse(operation, "argument " + std::string(name) + " has another element type than x; cast it");
    for (std::uint32_t d = 0; d < x.rank; ++d) check.extent(name, *v, d, x.extents[d], "the extents of x");
    check_lines(name, *v);
  }
  double rows = 1;
  for (std::uint32_t d = 0; d < x.rank; ++d) check.at_most("x", x, d, most);
  for (std::uint32_t d = 0; d < last; ++d) rows *= static_cast<double>(x.extents[d]);
  if (rows > static_cast<double>(most)) refuse(operation, "2^31 rows or more exceed a launch; split them");

  if (has_codes || !detail::same_view(out, x)) check.apart(out_name, out, "x", x);
  check.apart(out_name, out, "weight", weight);
  if (adds) check.apart(out_name, out, "residual", residual);
  if (writes) {
    if (!detail::same_view(residual_out, residual))
      check.apart("residual_out", residual_out, "residual", residual);
    check.apart("residual_out", residual_out, "x", x);
    check.apart("residual_out", residual_out, "weight", weight);
    check.apart("residual_out", residual_out, out_name, out);
  }

  rms_norm_problem problem{};
  if (x.empty()) return problem;
  const auto extent = [&](std::uint32_t from_last) {
    return x.rank > from_last ? static_cast<u32>(x.extents[last - from_last]) : 1;
  };
  problem.x = strides_of_rows(x, last);
  problem.out = strides_of_rows(out, last);
  if (adds) problem.residual = strides_of_rows(residual, last);
  if (writes) problem.residual_out = strides_of_rows(residual_out, last);
  problem.weight = weight.address;
  problem.rows = static_cast<u32>(rows);
  problem.size = extent(0);
  problem.heads = divisor::of(extent(1));
  problem.tokens = divisor::of(extent(2));
  problem.lanes_log = rms_norm_lanes_log(problem.size, x.element_bytes());
  bool aligned = problem.size % run_size == 0 && weight.address % 16 == 0;
  for (const any_view* v : {&x, &out, &residual, &residual_out})
    aligned = aligned && (!is_given(*v) || begins_at(*v, v == &out && has_codes ? run_size : 16));
  problem.aligned = aligned ? 1 : 0;
  problem.epsilon = options.epsilon;
  problem.weight_offset = options.weight_offset;
  return problem;
}

}  // namespace

namespace detail {

void run_rms_norm(const stream& s, const any_view& x, const any_view& weight, const any_view& out,
                  const rms_norm_options& options) {
  const device_properties& device = s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const rms_norm_problem problem = resolve(s, x, weight, "out", out, options);
  if (problem.rows != 0) rms_norm_variant_for(x.type, device).run(s, problem);
}

void run_rms_norm_codes(const stream& s, const any_view& x, const any_view& weight, const any_view& codes,
                        const any_view& scales, f32 scale, const rms_norm_options& options) {
  const device_properties& device = s.properties();
  const operation_scope traced(operation);
  const rms_norm_problem norm = resolve(s, x, weight, "codes", codes, options);
  const bool by_rows = scales.exists();
  if (!by_rows && !(std::isfinite(scale) && scale > 0)) refuse(operation, "scale is not finite and above 0");
  rms_norm_codes_problem problem{
      .norm = norm, .scales = {}, .kept = static_cast<u32>(kept_as(codes.type)), .scale = scale};
  if (by_rows) {
    const validation check(operation, s.device_identity());
    check.output("scales", scales);
    for (std::uint32_t d = 0; d + 1 < x.rank; ++d)
      check.extent("scales", scales, d, x.extents[d], "the rows of x");
    const std::array<std::pair<std::string_view, const any_view*>, 5> others{
        {{"x", &x},
         {"weight", &weight},
         {"codes", &codes},
         {"residual", &options.residual},
         {"residual_out", &options.residual_out}}};
    for (const auto& [name, other] : others)
      if (is_given(*other)) check.apart("scales", scales, name, *other);
    problem.scales = strides_of_rows(scales, scales.rank);
  }
  if (norm.rows != 0) rms_norm_codes_variant_for(x.type, device).run(s, problem);
}

}  // namespace detail

void rms_norm_warmup(const runtime::device& gpu, element_kind kind) {
  if (!is_wide(kind))
    detail::refuse("rms_norm_warmup", "elements that rms_norm does not take; they are f32, f16 or bf16");
  gpu.warmup(*rms_norm_variant_for(kind, gpu.properties()).image);
  gpu.warmup(*rms_norm_codes_variant_for(kind, gpu.properties()).image);
}

std::vector<const ptx::kernel_image*> rms_norm_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_rms_norm_kernels(list);
  return list;
}

}  // namespace kaio::ops
