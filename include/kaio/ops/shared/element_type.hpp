#pragma once
// Element types as numbers that a launch gives to its kernel (any_element.hpp).

#include <kaio/dsl/number/scalar.hpp>

namespace kaio::ops {

enum class element_type : u32 { f16, f32, bf16 };

}  // namespace kaio::ops
