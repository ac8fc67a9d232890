#pragma once
// The element types that a kernel takes by a number at the launch (any_element.hpp).

#include <kaio/dsl/number/scalar.hpp>

namespace kaio::ops {

enum class element_type : u32 { f16, f32, bf16 };

}  // namespace kaio::ops
