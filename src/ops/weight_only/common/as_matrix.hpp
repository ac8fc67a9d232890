#pragma once
// matmul_w4 by a matrix of the weights in the workspace, and matmul: for many rows of x, and for devices that
// have no kernel of its own. W is made and multiplied a slice of its rows, which are columns of y, at a time:
//
//   dequantise columns 0 .. | matmul | dequantise the next ones | matmul | ...
//
// so that the workspace has room for one slice, and a slice that fits into L2 is multiplied out of it.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops {

inline constexpr std::string_view w4_as_matrix = "dequantise";

// Bytes of so many columns of y, whose lines along K begin at multiples of 16 bytes.
std::uint64_t w4_slice_bytes(const w4_packed& w, std::uint32_t columns);
// The columns of a slice where there are so many of them, or fewer: whole tiles of the packed weights.
std::uint32_t w4_slice_of(const w4_packed& w, std::uint32_t slices);
inline std::uint32_t w4_slices(const w4_packed& w, std::uint32_t columns) {
  return (w.n + columns - 1) / columns;
}

// `columns` of a slice: of w4_slice_of.
void run_w4_as_matrix(const stream& s, const detail::matmul_w4_arguments& arguments,
                      const w4_problem& problem, std::uint32_t columns);
void warm_up_w4_as_matrix(const runtime::device& gpu, const detail::matmul_w4_arguments& arguments,
                          const w4_problem& problem, std::uint32_t columns);

// The slices that take the least time for such a problem, as the model has it, and how long, in microseconds.
struct w4_slicing {
  std::uint32_t columns = 0;
  double microseconds = 0;
};
w4_slicing plan_w4_slices(const w4_problem& problem, const device_properties& device);

}  // namespace kaio::ops
