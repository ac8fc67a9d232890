#pragma once
// matmul_w4 with act-order: x is permuted into the workspace, and multiplied as if the weights had no order,
// by kernels that copy x in pieces. A kernel that gathers x itself does so in every block.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>

#include "ops/weight_only/common/order_x.hpp"

namespace kaio::ops {

// A call with ordered weights as a call without an order: the permuted x comes first in the workspace.
class w4_without_act_order {
 public:
  explicit w4_without_act_order(const detail::matmul_w4_arguments& act_order);
  w4_without_act_order(const w4_without_act_order&) = delete;
  w4_without_act_order& operator=(const w4_without_act_order&) = delete;
  // False for calls that keep their order: those that name a kernel; those on devices with multiply-add
  // kernels; those of one row without splits, whose kernel follows an order.
  static bool is_for(const detail::matmul_w4_arguments& arguments, const device_properties& device);
  const detail::matmul_w4_arguments& arguments() const { return arguments_; }
  std::uint64_t first() const { return first_; }  // the bytes of x in the workspace
  // problem: the ordered call, checked.
  w4_ordered_x gather(const w4_problem& problem) const;

 private:
  matmul_w4_options options_;
  w4_weights weights_;
  detail::matmul_w4_arguments arguments_;
  std::uint64_t first_;
};

}  // namespace kaio::ops
