#pragma once
// From a call of matmul_w4 to a kernel and a division of K.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/weight_only/choice/variant.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/weight_only/common/families.hpp"

namespace kaio::ops {

struct w4_choice {
  const w4_variant* variant = nullptr;
  w4_division division{};   // of whose parts all are the blocks of a cluster, or each by itself
  std::uint32_t slice = 0;  // without a variant: by matrices of so many columns of y (as_matrix.hpp)
  bool exists() const { return variant != nullptr || slice != 0; }
  // "kernel:4" with four parts that a second kernel adds up; "kernel:4:cluster" where they are a cluster;
  // "dequantise:4" in four slices of n columns.
  std::string name(std::uint32_t n) const;
};
struct planned_w4 {
  w4_problem problem{};
  w4_choice choice{};                       // none: nothing to do
  std::uint64_t blocks = 0, workspace = 0;  // bytes
};

// Checks the arguments, and chooses: the kernel that is named, the choice that was found by tuning where its workspace
// is there, or the best one by a model of times. Throws invalid_argument, unsupported_device. Without an output, and
// where no workspace is given with any of it: for the choice alone.
planned_w4 plan_w4(const void* device, const device_properties& properties,
                   const detail::matmul_w4_arguments& arguments, bool choice_alone);

// What can run a problem that was checked, of weights of the library's own codes: each kernel for the device with each
// number of parts that gives a block fewer tiles of K than a smaller number does; or with `asked` parts, where that is
// not 0. Sets what the launch has of the codes.
std::vector<w4_choice> w4_choices(w4_problem& problem, const matmul_w4_options& asked,
                                  const device_properties& device);
// The problem, divided like this. Throws invalid_argument where there are too many blocks.
planned_w4 divide_w4(std::string_view operation, const w4_problem& problem, const w4_choice& choice);
// Launches it, with the workspace of the options.
void run_planned_w4(const stream& s, const detail::matmul_w4_arguments& arguments, const planned_w4& planned);
// What tuning knows the call by.
std::string tuning_key(const w4_problem& problem, const matmul_w4_options& options);

}  // namespace kaio::ops
