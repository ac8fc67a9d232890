#pragma once
// The norm of x that the one-row kernel computes before its product.

#include <kaio/ops/norm/call/x_norm.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>

namespace kaio::ops::detail {

// Whether the one-row kernel can compute the norm too: all tensors have whole pieces of 16 bytes, and no
// block writes what another one reads. If so, sets the norm's split of `work`.
bool set_norm_of_row(w4_one_row_work& work, const any_view& x, const x_norm& norm);

}  // namespace kaio::ops::detail
