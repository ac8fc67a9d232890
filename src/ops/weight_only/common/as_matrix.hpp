#pragma once
// matmul_w4 by a matrix of the weights in the workspace, and matmul: for many rows of x, and for devices
// without a kernel of matmul_w4. One slice of the rows of W (columns of y) after the other is dequantised and
// multiplied:
//
//   dequantise columns 0 .. | matmul | dequantise the next ones | matmul | ...
//
// The workspace has room for one slice. A slice that fits into L2 is multiplied from there.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops {

inline constexpr std::string_view w4_as_matrix = "dequantise";

// Bytes of a slice of `columns` columns of y; its lines along K begin at multiples of 16 bytes.
std::uint64_t w4_slice_bytes(const w4_packed& w, std::uint32_t columns);
// Columns per slice for `slices` slices, or fewer: whole tiles of the packed weights.
std::uint32_t w4_slice_of(const w4_packed& w, std::uint32_t slices);
inline std::uint32_t w4_slices(const w4_packed& w, std::uint32_t columns) {
  return (w.n + columns - 1) / columns;
}

// columns: columns per slice, from w4_slice_of.
void run_w4_as_matrix(const stream& s, const detail::matmul_w4_arguments& arguments,
                      const w4_problem& problem, std::uint32_t columns);
void warm_up_w4_as_matrix(const runtime::device& gpu, const detail::matmul_w4_arguments& arguments,
                          const w4_problem& problem, std::uint32_t columns);

// The slices that take the least time by a model, and this time.
struct w4_slicing {
  std::uint32_t columns = 0;
  double microseconds = 0;
};
w4_slicing plan_w4_slices(const w4_problem& problem, const device_properties& device);

}  // namespace kaio::ops
