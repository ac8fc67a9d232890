#pragma once
// RMS norm of the hidden states x of a projection, in front of it, as rms_norm has it:
//
//   h  = x + residual                                     where there is one: f32, rounded once
//   x' = h / rms(h) * (weight_offset + weight)            f32, rounded once to the type of x, and what is multiplied
//
// The bits are those of rms_norm and of the projection after it, in one launch or in several.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/output_view.hpp>

namespace kaio::ops {

struct x_norm {
  any_view
      weight{};  // (K), of the type of x, f16 or bf16 (or f32, where x is); none: x is multiplied as it is
  f32 epsilon = 1e-6f;
  f32 weight_offset = 0;       // 1 for Gemma
  any_view residual{};         // of the extents and the type of x
  output_view residual_out{};  // gets h; may be the residual itself, element by element. Needs a residual
};

}  // namespace kaio::ops

namespace kaio {
using ops::x_norm;
}
