#pragma once
// The gradients of C = A * B: dA = dC * B^T and dB = A^T * dC. The kernels of matmul compute them, and read
// the transposed operands in place.
//
//   tensor_view da(da_memory, m, k), db(db_memory, k, n);
//   matmul_backward(gpu.stream(), dc, a, b, da, db);
//   matmul_backward(gpu.stream(), dc, a, b, da, db, {.accumulate = true});       // dA += ..., dB += ...
//
// dC has the element type of A and B, or is f32 with operands of 16 bits. In the second case it is rounded to
// their type once, into the caller's workspace of matmul_backward_workspace_bytes(dc, a) bytes. A framework
// that casts the gradient does exactly that. f16 overflows beyond 65504: scale the loss, or use bf16.

#include <kaio/ops/matmul.hpp>

#include <cstdint>

namespace kaio::ops {

struct matmul_backward_options {
  f32 alpha = 1;            // alpha of the product that is differentiated
  bool accumulate = false;  // adds to dA and dB
  matmul_precision precision = matmul_precision::ieee;
  workspace_view workspace{};
};

// The bytes of workspace; 0 if dC has the type of the operands.
std::uint64_t matmul_backward_workspace_bytes(const matmul_view& dc, const matmul_view& a);

// dC: M x N, A: M x K, B: K x N, dA: M x K, dB: K x N, of f32, f16 or bf16. A null view of dA or dB leaves
// that gradient out. With three dimensions the batch comes first. The gradient of an operand of two
// dimensions next to a batch is refused, because it is a sum over the batch: reshape the batch into M
// instead.
void matmul_backward(const stream& s, const matmul_view& dc, const matmul_view& a, const matmul_view& b,
                     const matmul_view& da, const matmul_view& db,
                     const matmul_backward_options& options = {});

}  // namespace kaio::ops

namespace kaio {
using ops::matmul_backward;
using ops::matmul_backward_options;
}  // namespace kaio
