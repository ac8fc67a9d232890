#pragma once
// matmul_w4 by weights with an order of K: x in that order is made in the workspace, and multiplied by the weights as
// if they had none, by kernels that copy x in pieces. A kernel that gathers x itself does so in every block.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>

#include "ops/weight_only/common/order_x.hpp"

namespace kaio::ops {

// A call by ordered weights as one by weights without an order, of x in the workspace, which comes first in it.
class w4_without_order {
 public:
  explicit w4_without_order(const detail::matmul_w4_arguments& ordered);
  w4_without_order(const w4_without_order&) = delete;
  w4_without_order& operator=(const w4_without_order&) = delete;
  // Arguments that name a kernel, or are for a device whose kernels multiply and add, or of one row without parts,
  // whose kernel follows an order, keep theirs.
  static bool is_for(const detail::matmul_w4_arguments& arguments, const device_properties& device);
  const detail::matmul_w4_arguments& arguments() const { return arguments_; }
  std::uint64_t first() const { return first_; }  // the bytes of x in the workspace
  // `problem`: of the ordered call, checked.
  w4_ordered_x gather(const w4_problem& problem) const;

 private:
  matmul_w4_options options_;
  w4_weights weights_;
  detail::matmul_w4_arguments arguments_;
  std::uint64_t first_;
};

}  // namespace kaio::ops
