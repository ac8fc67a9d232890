#pragma once
// matmul_w4 by a matrix of the weights in the workspace, and matmul: for many rows of x, and for devices that
// have no kernel of its own.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/quantised/w4/problem.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops {

inline constexpr std::string_view w4_as_matrix = "dequantise";

// Bytes of the matrix, whose rows begin at multiples of 16 bytes.
std::uint64_t w4_matrix_bytes(const w4_packed& w);
void run_w4_as_matrix(const stream& s, const detail::matmul_w4_arguments& arguments,
                      const w4_problem& problem);
void warm_up_w4_as_matrix(const runtime::device& gpu, const any_view& x, const w4_problem& problem);

}  // namespace kaio::ops
