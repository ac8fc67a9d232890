#pragma once
// Mathematical functions. Like operators they build pure expressions. sqrt and fma are correctly rounded. Each other
// function states its error bound, which holds over the whole range: infinities, NaN and subnormal numbers included.
//
//   val y = xi / (1.0f + exp(-xi));

#include <kaio/dsl/math/activation.hpp>
#include <kaio/dsl/math/basic.hpp>
#include <kaio/dsl/math/blend.hpp>
#include <kaio/dsl/math/error_function.hpp>
#include <kaio/dsl/math/exponential.hpp>
#include <kaio/dsl/math/fast.hpp>
#include <kaio/dsl/math/fast_ftz.hpp>
#include <kaio/dsl/math/fast_unit.hpp>
#include <kaio/dsl/math/hyperbolic.hpp>
#include <kaio/dsl/math/inverse_trigonometric.hpp>
#include <kaio/dsl/math/logarithm.hpp>
#include <kaio/dsl/math/power.hpp>
#include <kaio/dsl/math/remainder.hpp>
#include <kaio/dsl/math/root.hpp>
#include <kaio/dsl/math/rounding.hpp>
#include <kaio/dsl/math/trigonometric.hpp>

namespace kaio {
namespace fast = dsl::fast;
}  // namespace kaio
