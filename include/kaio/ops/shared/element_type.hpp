#pragma once
// Element types as numbers that a launch gives to its kernel (any_element.hpp).

#include <kaio/dsl/number/scalar.hpp>

namespace kaio::ops {

enum class element_type : u32 { f16, f32, bf16 };

// How a kernel keeps elements: in the type that they come in, or as x / scale in 8 bits.
enum class kept_type : u32 { same, e4m3, e5m2, i8 };

}  // namespace kaio::ops
