// The checks of rms_norm before anything runs.

#include <kaio/ops/rms_norm.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "ops/cache/common/check.hpp"
#include "ops/rms_norm/rows.hpp"

namespace kaio::ops {

namespace {

constexpr std::string_view operation = "rms_norm";
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

row_strides strides_of_rows(const any_view& v) {
  std::array<i64, 3> strides{};  // of batches, tokens, heads
  for (std::uint32_t d = 0; d + 1 < v.rank; ++d) strides[3 - (v.rank - 1) + d] = v.strides[d];
  return {v.address, strides[0], strides[1], strides[2]};
}

void check_lines(std::string_view name, const any_view& v) {
  const std::uint32_t last = v.rank - 1;
  if (v.strides[last] != 1 && v.extents[last] > 1)
    detail::refuse(operation, "argument " + std::string(name) + " has stride " +
                                  std::to_string(v.strides[last]) +
                                  " along its last dimension; neighbours of a row are adjacent: stride 1");
}

}  // namespace

namespace detail {

void run_rms_norm(const stream& s, const any_view& x, const any_view& weight, const any_view& out,
                  const rms_norm_options& options) {
  s.properties();  // a null stream is refused before anything is looked at
  const validation check(operation, s.device_identity());
  const any_view &residual = options.residual, &residual_out = options.residual_out;
  const bool adds = is_given(residual), writes = is_given(residual_out);
  check.input("x", x);
  check.input("weight", weight);
  check.output("out", out);
  if (adds) check.input("residual", residual);
  if (writes) check.output("residual_out", residual_out);
  if (writes && !adds) refuse(operation, "residual_out without residual; there is nothing that it would add");
  const std::uint32_t last = x.rank - 1;
  if (!(std::isfinite(options.epsilon) && options.epsilon >= 0))
    refuse(operation, "epsilon is below 0 or not finite; it is added to the mean of squares");
  check_lines("x", x);
  check_lines("weight", weight);
  check.extent("weight", weight, 0, x.extents[last], "the last extent of x");
  for (const auto& [name, v] :
       {std::pair{"out", &out}, std::pair{"residual", &residual}, std::pair{"residual_out", &residual_out}}) {
    if (!is_given(*v)) continue;
    if (v->rank != x.rank)
      refuse(operation, "argument " + std::string(name) + " has " + std::to_string(v->rank) +
                            " dimensions, and x has " + std::to_string(x.rank));
    if (v->kind != x.kind)
      refuse(operation, "argument " + std::string(name) + " has another element type than x; cast it");
    for (std::uint32_t d = 0; d < x.rank; ++d) check.extent(name, *v, d, x.extents[d], "the extents of x");
    check_lines(name, *v);
  }
  double rows = 1;
  for (std::uint32_t d = 0; d < x.rank; ++d) check.at_most("x", x, d, most);
  for (std::uint32_t d = 0; d < last; ++d) rows *= static_cast<double>(x.extents[d]);
  if (rows > static_cast<double>(most))
    refuse(operation, "2^31 rows or more, which a launch cannot count; take them in parts");

  if (!detail::same_view(out, x)) check.apart("out", out, "x", x);
  check.apart("out", out, "weight", weight);
  if (adds) check.apart("out", out, "residual", residual);
  if (writes) {
    if (!detail::same_view(residual_out, residual))
      check.apart("residual_out", residual_out, "residual", residual);
    check.apart("residual_out", residual_out, "x", x);
    check.apart("residual_out", residual_out, "weight", weight);
    check.apart("residual_out", residual_out, "out", out);
  }
  if (x.empty()) return;

  const auto extent = [&](std::uint32_t from_last) {
    return x.rank > from_last ? static_cast<u32>(x.extents[last - from_last]) : 1;
  };
  rms_norm_problem problem{};
  problem.x = strides_of_rows(x);
  problem.out = strides_of_rows(out);
  if (adds) problem.residual = strides_of_rows(residual);
  if (writes) problem.residual_out = strides_of_rows(residual_out);
  problem.weight = weight.address;
  problem.rows = static_cast<u32>(rows);
  problem.size = extent(0);
  problem.heads = divisor::of(extent(1));
  problem.tokens = divisor::of(extent(2));
  problem.lanes_log = rms_norm_lanes_log(problem.size, x.element_bytes);
  bool aligned = problem.size % run_size == 0 && weight.address % 16 == 0;
  for (const any_view* v : {&x, &out, &residual, &residual_out})
    aligned = aligned && (!is_given(*v) || begins_at(*v, 16));
  problem.aligned = aligned ? 1 : 0;
  problem.epsilon = options.epsilon;
  problem.weight_offset = options.weight_offset;
  rms_norm_variant_for(x.kind, s.properties()).run(s, problem);
}

}  // namespace detail

void rms_norm_warmup(const runtime::device& gpu, element_kind kind) {
  if (!is_wide(kind))
    detail::refuse("rms_norm_warmup", "elements that rms_norm does not take; they are f32, f16 or bf16");
  gpu.warmup(*rms_norm_variant_for(kind, gpu.properties()).image);
}

std::vector<const ptx::kernel_image*> rms_norm_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_rms_norm_kernels(list);
  return list;
}

}  // namespace kaio::ops
