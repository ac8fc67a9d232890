#pragma once
// A matmul as its kernels see it: checked and normalised. A kernel need not know what the caller's views
// looked like.
//
//   C is row-major. If the caller's C is column-major, C^T = B^T * A^T is computed.
//   Each operand is lines of neighbours: along K (major::k), or along M for A and N for B (major::mn).
//   If all products of a batch share B and their rows follow on each other, the batch is one product.
//   If an operand has a single line, its unused leading dimension is set to one that every kernel takes.

#include <kaio/ops/matmul/call/arguments.hpp>

#include <cstdint>

namespace kaio::ops {

// The direction of an operand's lines: K-major or MN-major, as wgmma's matrix descriptors call them.
enum class line_direction : std::uint8_t { along_k, across_k };

struct matmul_operand {
  std::uint64_t address = 0, bytes = 0;
  const void* device = nullptr;
  line_direction lines = line_direction::along_k;
  std::uint64_t pitch = 0;        // elements from line to line
  std::uint64_t batch_pitch = 0;  // elements from one matrix to the next; 0: all are one matrix

  // Whether every line of every matrix begins at a multiple of `alignment` bytes; an element has `size`
  // bytes.
  constexpr bool aligned(std::uint64_t size, std::uint64_t alignment) const {
    return address % alignment == 0 && pitch * size % alignment == 0 && batch_pitch * size % alignment == 0;
  }
};

struct matmul_call {
  element_kind operand = element_kind::f32, output = element_kind::f32;
  matmul_precision precision = matmul_precision::ieee;
  std::uint64_t m = 0, n = 0, k = 0, batches = 1;
  matmul_operand a, b, c;  // its lines are the rows of C
  matmul_terms terms;
  workspace_view workspace;
  bool constant_a = false, constant_b = false;
  bool exchanged = false;  // the caller's C^T is computed

  constexpr bool empty() const { return m == 0 || n == 0 || batches == 0; }
};

namespace detail {
// Checks the arguments and normalises them as above. Throws invalid_argument. `may_rearrange`: C^T may be
// computed, and batches may become rows. An epilogue that looks at its place would see that. If it is false,
// a column-major C is refused.
matmul_call resolve_matmul(const void* device, const matmul_arguments& arguments, bool may_rearrange = true);
}  // namespace detail

}  // namespace kaio::ops
