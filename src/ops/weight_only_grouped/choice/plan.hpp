#pragma once
// The plan of a call of matmul_w4_grouped: a kernel, and its problem.

#include <kaio/ops/weight_only_grouped/choice/variant.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops {

struct planned_w4_grouped {
  const w4_grouped_variant* variant = nullptr;  // null: nothing to do
  w4_grouped_problem problem{};
  std::uint64_t blocks = 0;
};

// `problem`: of all rows and of the weights of group 0, checked. Chooses the named kernel, or the best one
// for groups of the mean size. Throws invalid_argument, unsupported_device.
planned_w4_grouped plan_w4_grouped(std::string_view operation, const w4_grouped_problem& problem,
                                   const device_properties& device, std::string_view forced);

}  // namespace kaio::ops
