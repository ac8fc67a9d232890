#pragma once
// What products with packed weights share in the C interface.

#include <kaio/ops/shared/any_view.hpp>

namespace kaio::c {

// Requires an output with the element type of x, or f32.
void require_out_type(const char* operation, const ops::any_view& x, const ops::any_view& out);

}  // namespace kaio::c
