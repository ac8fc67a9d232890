#pragma once
// Split-K: a product whose K is split among blocks is a batch of shorter products, with their sums in the
// workspace.

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// Requires that K is a multiple of `splits`, and that the call is one product.
inline matmul_call call_of_splits(const matmul_call& call, std::uint32_t splits) {
  matmul_call result = call;
  result.k = call.k / splits;
  result.batches = splits;
  const auto step = [&](matmul_operand& x) {
    x.batch_pitch = x.lines == line_direction::along_k ? result.k : result.k * x.pitch;
  };
  step(result.a);
  step(result.b);
  result.output = element_kind::f32;
  result.c = {
      call.workspace.address, call.workspace.bytes, call.workspace.device, line_direction::along_k, call.n,
      call.m * call.n};
  result.terms = matmul_terms{};
  return result;
}

}  // namespace kaio::ops
