#pragma once
// The plan of a call of matmul_w4: a kernel and a division of K.

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
  w4_division division{};   // all of its splits are the blocks of one cluster, or none are
  std::uint32_t slice = 0;  // without a variant: columns of y per slice (as_matrix.hpp)
  bool exists() const { return variant != nullptr || slice != 0; }
  // The name of the choice for n columns of y:
  //
  //   "kernel:4"            four splits, which a second kernel adds up
  //   "kernel:4:cluster"    four splits, the blocks of a cluster
  //   "dequantise:4"        four slices
  std::string name(std::uint32_t n) const;
};
struct planned_w4 {
  w4_problem problem{};
  w4_choice choice{};                       // none: nothing to do
  std::uint64_t blocks = 0, workspace = 0;  // workspace in bytes
};

// Checks the arguments and chooses: the named kernel, or the tuned choice if its workspace is there, or the
// best one by a model of times. Throws invalid_argument, unsupported_device. choice_alone: there is no
// output; if no workspace is given either, the choice may need any size of it.
planned_w4 plan_w4(const void* device, const device_properties& properties,
                   const detail::matmul_w4_arguments& arguments, bool choice_alone);

// All choices for a checked problem with the library's own codes: each kernel for the device, with the number
// of splits that is asked for. If that is 0, each number of splits counts that gives a block fewer tiles of K
// than a smaller number does. Sets the numbers of a table in the problem.
std::vector<w4_choice> w4_choices(w4_problem& problem, const matmul_w4_options& asked,
                                  const device_properties& device);
// The problem with this division. Throws invalid_argument if there are too many blocks.
planned_w4 divide_w4(std::string_view operation, const w4_problem& problem, const w4_choice& choice);
// Launches it, with the workspace of the options.
void run_planned_w4(const stream& s, const detail::matmul_w4_arguments& arguments, const planned_w4& planned);
// The key of the call in tuning results.
std::string tuning_key(const w4_problem& problem, const matmul_w4_options& options);

}  // namespace kaio::ops
