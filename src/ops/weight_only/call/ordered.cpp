#include "ops/weight_only/call/ordered.hpp"
#include <kaio/ops/shared/device_refusal.hpp>

#include "ops/shared/row_checks.hpp"
#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/gemv/one_row.hpp"

namespace kaio::ops {

namespace {

constexpr std::int64_t piece = 8;

std::int64_t line_of(std::int64_t k) { return (k + piece - 1) / piece * piece; }

// Whether the kernel for one row runs the call: its blocks gather their split of x in shared memory
// themselves.
bool is_for_one_row(const detail::matmul_w4_arguments& a, const device_properties& device) {
  const w4_shape& shape = a.weights->shape;
  const bool is_eight = shape.codes == w4_codes::int8;
  const w4_variant& v = is_eight ? matmul_w8_int8_f16().front() : matmul_w4_mma_f16().front();
  return runs_on(*v.image, device) && a.x.extents[0] == 1 && a.options->splits == 0 &&
         (is_eight || shape.codes == w4_codes::int4) && !shape.offsets &&
         refusal_of_one_row(*v.one_row, shape, a.x).empty();
}

}  // namespace

bool w4_without_act_order::is_for(const detail::matmul_w4_arguments& a, const device_properties& device) {
  // The kernel counts pieces in 32 bits.
  constexpr std::int64_t most_pieces = std::int64_t{1} << 31;
  return a.weights->shape.act_order && device.target.sm >= 80 && a.options->variant.empty() &&
         !is_for_one_row(a, device) && a.x.extents[0] < most_pieces / (line_of(a.x.extents[1]) / piece + 1);
}

w4_without_act_order::w4_without_act_order(const detail::matmul_w4_arguments& act_order)
    : options_(*act_order.options),
      weights_(*act_order.weights),
      arguments_(act_order),
      first_(static_cast<std::uint64_t>(act_order.x.extents[0] * line_of(act_order.x.extents[1])) *
             sizeof(f16)) {
  weights_.shape.act_order = false;
  any_view& x = arguments_.x;
  // For the choice alone there may be no workspace: then an address that nothing else has, as only alignment
  // matters.
  const bool is_given = options_.workspace.address != 0;
  x.address = is_given ? options_.workspace.address : std::uint64_t{1} << 60;
  x.bytes = first_;
  if (is_given) x.device = options_.workspace.device;
  x.strides[0] = line_of(x.extents[1]);
  x.strides[1] = 1;
  options_.workspace = detail::rest_of(options_.workspace, first_);
  arguments_.weights = &weights_;
  arguments_.options = &options_;
}

w4_ordered_x w4_without_act_order::gather(const w4_problem& p) const {
  return {.x = p.x,
          .act_order = p.w.rows,
          .out = arguments_.x.address,
          .x_row = p.x_row,
          .m = p.m,
          .k = p.w.k,
          .pieces = divisor::of(static_cast<u32>(line_of(p.w.k) / piece))};
}

}  // namespace kaio::ops
