#pragma once
// RMS norm of the hidden states x before a projection, as rms_norm computes it:
//
//   h  = x + residual                                  if there is one: f32, rounded once
//   x' = h / rms(h) * (weight_offset + weight)         f32, rounded once to x's type; the projection takes x'
//
// In one launch or in several, the bits are those of rms_norm followed by the projection.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>

namespace kaio::ops {

struct x_norm {
  any_view
      weight{};  // (K), of the type of x: f16 or bf16 (or f32, if x is f32); none: x is multiplied as it is
  f32 epsilon = 1e-6f;
  f32 weight_offset = 0;       // 1 for Gemma
  any_view residual{};         // with the extents and the type of x
  output_view residual_out{};  // gets h; may be the residual itself, element by element. Needs a residual
};

}  // namespace kaio::ops

namespace kaio {
using ops::x_norm;
}
