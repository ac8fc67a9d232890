#include "ops/norm/call/in_front.hpp"

#include <kaio/ops/norm/common/problem.hpp>
#include <kaio/ops/rms_norm.hpp>

#include <string>
#include <utility>

namespace kaio::ops::detail {

void check_x_norm(std::string_view operation, const void* device, const any_view& x, const x_norm& norm) {
  const validation check(operation, device);
  const auto wrong = [&](std::string_view name, std::string_view what) {
    refuse(operation, "argument " + std::string(name) + " " + std::string(what));
  };
  if (!is_given(norm.weight)) {
    if (is_given(norm.residual) || is_given(norm.residual_out))
      refuse(operation, "x_norm.residual without x_norm.weight; it is added before a norm");
    return;
  }
  if (is_quantised(x.type)) refuse(operation, "x_norm needs x of f32, f16 or bf16");
  const std::uint32_t last = x.rank - 1;
  const auto check_lines = [&](std::string_view name, const any_view& v) {
    if (v.type != x.type) wrong(name, "has another element type than x; cast it");
    if (v.strides[v.rank - 1] != 1 && v.extents[v.rank - 1] > 1)
      wrong(name, "has a stride along its last dimension; neighbours of a row are adjacent: stride 1");
  };
  check.input("x_norm.weight", norm.weight);
  if (norm.weight.rank != 1) wrong("x_norm.weight", "has more than one dimension; it is (K)");
  check.extent("x_norm.weight", norm.weight, 0, x.extents[last], "K of x");
  check_lines("x_norm.weight", norm.weight);
  check_epsilon(operation, "x_norm.epsilon", norm.epsilon);
  if (is_given(norm.residual_out) && !is_given(norm.residual))
    refuse(operation, "x_norm.residual_out is given without x_norm.residual; give both");
  const any_view &residual = norm.residual, &residual_out = norm.residual_out;
  for (const auto& [name, v] :
       {std::pair{"x_norm.residual", &residual}, std::pair{"x_norm.residual_out", &residual_out}}) {
    if (!is_given(*v)) continue;
    v == &residual ? check.input(name, *v) : check.output(name, *v);
    if (v->rank != x.rank) wrong(name, "has another number of dimensions than x");
    for (std::uint32_t d = 0; d < x.rank; ++d) check.extent(name, *v, d, x.extents[d], "as of x");
    check_lines(name, *v);
  }
}

std::uint64_t bytes_of_normed(const any_view& x) { return normed_in({}, x).bytes; }

any_view normed_in(const workspace_view& workspace, const any_view& x) {
  any_view to = x;
  const std::uint32_t last = x.rank - 1;
  to.strides[last] = 1;
  to.strides[last - 1] = (x.extents[last] + run_size - 1) / run_size * run_size;
  if (x.rank == 3) to.strides[0] = to.strides[1] * x.extents[1];
  std::uint64_t rows = 1;
  for (std::uint32_t d = 0; d < last; ++d) rows *= static_cast<std::uint64_t>(x.extents[d]);
  const std::uint64_t bytes = rows * static_cast<std::uint64_t>(to.strides[last - 1]) * x.element_bytes();
  to.bytes = (bytes + 255) / 256 * 256;
  // If there is no workspace yet, or one that is too small for the call, only the alignment of the address matters.
  to.address = workspace.bytes >= to.bytes && workspace.address != 0 ? workspace.address : u64{1} << 59;
  to.device = workspace.device;
  return to;
}

void run_norm_in_front(const stream& s, const any_view& x, const x_norm& norm,
                       const workspace_view& workspace) {
  run_rms_norm(s, x, norm.weight, normed_in(workspace, x),
               {.epsilon = norm.epsilon,
                .weight_offset = norm.weight_offset,
                .residual = norm.residual,
                .residual_out = norm.residual_out});
}

}  // namespace kaio::ops::detail
