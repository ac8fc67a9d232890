#pragma once
// The options of a gate, checked.

#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/matmul_grouped/common/terms.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

// The gate of a grouped product, without biases. `name`: that of the option `activation`.
inline grouped_gate checked_gate(std::string_view operation, std::string_view name,
                                 matmul_activation activation, f32 alpha, f32 limit, f32 up_offset) {
  if (activation == matmul_activation::none || activation > matmul_activation::silu)
    refuse(operation, "option " + std::string(name) + " is none of silu, gelu, gelu_tanh and relu");
  if (!(std::isfinite(alpha) && alpha > 0)) refuse(operation, "option alpha is not finite and above 0");
  if (!(std::isfinite(limit) && limit >= 0))
    refuse(operation, "option limit is not finite and at least 0; 0: no limit");
  if (!std::isfinite(up_offset)) refuse(operation, "option up_offset is not finite");
  return {{0, 0}, {0, 0},    limit == 0 ? std::numeric_limits<f32>::infinity() : limit,
          alpha,  up_offset, static_cast<u32>(activation)};
}

}  // namespace kaio::ops::detail
