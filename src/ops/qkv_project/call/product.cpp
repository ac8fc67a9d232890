#include "ops/qkv_project/common/product.hpp"

#include <kaio/ops/matmul.hpp>
#include <kaio/ops/matmul_fp8.hpp>
#include <kaio/ops/matmul_int8.hpp>
#include <kaio/ops/matmul_w4.hpp>

#include <algorithm>

#include "ops/matmul/call/view.hpp"
#include "ops/matmul/call/workspace.hpp"
#include "ops/shared/row_checks.hpp"
#include "ops/weight_only/choice/plan.hpp"

namespace kaio::ops {

namespace detail {

any_view rows_of_x(const any_view& x) {
  if (x.rank == 2) return x;
  any_view flat = x;
  flat.rank = 2;
  flat.extents = {x.extents[0] * x.extents[1], x.extents[2]};
  flat.strides = {x.extents[1] > 1 ? x.strides[1] : x.strides[0], x.strides[2]};
  return flat;
}

}  // namespace detail

std::uint64_t projection_product::bytes() const {
  const std::uint64_t of_rows = tokens * static_cast<std::uint64_t>(pitch()) * sizeof(f16);
  return (of_rows + 255) / 256 * 256;
}

std::uint64_t projection_product::address() const {
  // If there is no workspace yet, only its alignment matters.
  return workspace.address != 0 ? workspace.address : std::uint64_t{1} << 61;
}

std::uint64_t projection_product::workspace_bytes(const void* device,
                                                  const device_properties& properties) const {
  std::uint64_t more = 0;
  for (const projection_weight& w : weights)
    if (w.is_packed) {
      const matmul_w4_options options = packed_options();
      const any_view flat = detail::rows_of_x(x);
      more = std::max(
          more, plan_w4(device, properties, {operation, flat, {}, &w.packed, &options}, true).workspace);
    }
  return bytes() + more;
}

void projection_product::check_kernels(const stream& s) const {
  const matmul_options options{.constant = constant};
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (columns[i].count != 0 && !weights[i].is_packed && !is_quantised(x.type))
      detail::workspace_of_matmul(operation, s, matmul_view_of(x),
                                  transposed(matmul_view_of(weights[i].matrix)),
                                  matmul_view_of(matrix(columns[i], true)), options);
}

void projection_product::run(const stream& s) const {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const projection_weight& w = weights[i];
    if (columns[i].count == 0) continue;
    if (w.is_packed) {
      const matmul_w4_options options = packed_options();
      const any_view flat = detail::rows_of_x(x), to = matrix(columns[i], false);
      detail::run_matmul_w4(s, {operation, flat, to, &w.packed, &options});
    } else if (x.type == element_kind::i8) {
      const matmul_int8_options options = int8_options(w);
      const any_view flat = detail::rows_of_x(x), to = matrix(columns[i], false);
      detail::run_matmul_int8(s, {operation, matmul_view_of(flat), transposed(matmul_view_of(w.matrix)),
                                  matmul_view_of(to), &options});
    } else if (is_quantised(x.type)) {
      const matmul_fp8_options options = fp8_options(w);
      const any_view flat = detail::rows_of_x(x), to = matrix(columns[i], false);
      detail::run_matmul_fp8(s, {operation, matmul_view_of(flat), transposed(matmul_view_of(w.matrix)),
                                 matmul_view_of(to), &options});
    } else {
      const matmul_options options{.constant = constant};
      const any_view to = matrix(columns[i], true);
      detail::run_matmul(s, {operation, matmul_view_of(x), transposed(matmul_view_of(w.matrix)),
                             matmul_view_of(to), &options});
    }
  }
}

void projection_product::warm_up(const runtime::device& gpu) const {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const projection_weight& w = weights[i];
    if (columns[i].count == 0) continue;
    if (w.is_packed)
      matmul_w4_warmup(gpu, detail::rows_of_x(x), w.packed, packed_options());
    else if (x.type == element_kind::i8)
      matmul_int8_warmup(gpu, matmul_view_of(detail::rows_of_x(x)), transposed(matmul_view_of(w.matrix)),
                         matmul_view_of(matrix(columns[i], false)), int8_options(w));
    else if (is_quantised(x.type))
      matmul_fp8_warmup(gpu, matmul_view_of(detail::rows_of_x(x)), transposed(matmul_view_of(w.matrix)),
                        matmul_view_of(matrix(columns[i], false)), fp8_options(w));
    else
      matmul_warmup(gpu, matmul_view_of(x), transposed(matmul_view_of(w.matrix)),
                    matmul_view_of(matrix(columns[i], true)), {.constant = constant});
  }
}

// Columns of the product, as a matrix, or in the batches of x.
any_view projection_product::matrix(const projection_columns& of, bool in_batches) const {
  any_view v;
  v.type = kind;
  v.address = address() + u64{of.first} * sizeof(f16);
  v.bytes = bytes() - u64{of.first} * sizeof(f16);
  v.device = workspace.device;
  if (in_batches && x.rank == 3) {
    v.rank = 3;
    v.extents = {x.extents[0], x.extents[1], of.count};
    v.strides = {x.extents[1] * pitch(), pitch(), 1};
  } else {
    v.rank = 2;
    v.extents = {static_cast<std::int64_t>(tokens), of.count};
    v.strides = {pitch(), 1};
  }
  return v;
}

matmul_w4_options projection_product::packed_options() const {
  matmul_w4_options options;
  options.workspace = detail::rest_of(workspace, bytes());
  options.exact_weights = exact_weights;
  options.constant = constant;
  return options;
}

matmul_int8_options projection_product::int8_options(const projection_weight& w) const {
  matmul_int8_options options;
  options.constant = constant;
  if (!x_scale.is_null()) options.scale_a = x_scale;
  if (detail::is_given(w.scale)) options.scale_b = matmul_view_of(w.scale);
  return options;
}

matmul_fp8_options projection_product::fp8_options(const projection_weight& w) const {
  matmul_fp8_options options;
  options.constant = constant;
  if (!x_scale.is_null()) options.scale_a = x_scale;
  if (detail::is_given(w.scale)) options.scale_b = matmul_view_of(w.scale);
  if (!x_groups.is_null()) {
    options.groups_a = x_groups;
    options.blocks_b = transposed(matmul_view_of(w.blocks));
  }
  return options;
}

}  // namespace kaio::ops
