#pragma once
// A matmul as its kernels see it: checked and normalised, so that a kernel need not know what the
// caller's views looked like.
//
//   C is row-major. Where the caller's C is column-major, C^T = B^T * A^T is computed.
//   Each operand is lines of neighbours: along K (major::k), or along M for A and N for B (major::mn).
//   Batches that are one product, because B is the same for all of them and rows follow on rows, are one.
//   With a single line the leading dimension is unused, and becomes one that every kernel takes.

#include <kaio/ops/matmul/call/arguments.hpp>

#include <cstdint>

namespace kaio::ops {

// Of an operand; the names are those of wgmma's matrix descriptors.
enum class line_direction : std::uint8_t { along_k, across_k };

struct matmul_operand {
  std::uint64_t address = 0, bytes = 0;
  const void* device = nullptr;
  line_direction lines = line_direction::along_k;
  std::uint64_t pitch = 0;        // elements from line to line
  std::uint64_t batch_pitch = 0;  // from one matrix to the next; 0: the same one

  // Every line of every matrix begins at a multiple of `bytes`, in elements of `size`.
  constexpr bool aligned(std::uint64_t size, std::uint64_t alignment) const {
    return address % alignment == 0 && pitch * size % alignment == 0 && batch_pitch * size % alignment == 0;
  }
};

struct matmul_call {
  matmul_type operand = matmul_type::f32, output = matmul_type::f32;
  matmul_precision precision = matmul_precision::ieee;
  std::uint64_t m = 0, n = 0, k = 0, batches = 1;
  matmul_operand a, b, c;  // c: lines are its rows
  matmul_terms terms;
  matmul_workspace workspace;
  bool constant_a = false, constant_b = false;
  bool exchanged = false;  // the caller's C^T is computed

  constexpr bool empty() const { return m == 0 || n == 0 || batches == 0; }
};

namespace detail {
// Checks the arguments, and normalises them as above. Throws invalid_argument. `may_rearrange`: whether
// C^T may be computed and batches become rows, which an epilogue that looks at its place would see; where it
// may not, a column-major C is refused.
matmul_call resolve_matmul(const void* device, const matmul_arguments& arguments, bool may_rearrange = true);
}  // namespace detail

}  // namespace kaio::ops
