#pragma once
// Mathematical functions. Like operators they build pure expressions. sqrt and fma are correctly rounded; the
// others hold the bound that each states over the whole range, infinities, NaN and subnormal numbers
// included.
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
using dsl::abs;
using dsl::acos;
using dsl::asin;
using dsl::atan;
using dsl::atan2;
using dsl::cbrt;
using dsl::ceil;
using dsl::clamp;
using dsl::copysign;
using dsl::cos;
using dsl::cosh;
using dsl::cospi;
using dsl::erf;
using dsl::erfc;
using dsl::exp;
using dsl::exp10;
using dsl::exp2;
using dsl::expm1;
using dsl::fdim;
using dsl::floor;
using dsl::fma;
using dsl::fmod;
using dsl::gelu;
using dsl::gelu_tanh;
using dsl::hypot;
using dsl::isfinite;
using dsl::isinf;
using dsl::isnan;
using dsl::lerp;
using dsl::log;
using dsl::log10;
using dsl::log1p;
using dsl::log2;
using dsl::max;
using dsl::max_nan;
using dsl::min;
using dsl::min_nan;
using dsl::nearbyint;
using dsl::pow;
using dsl::rcp;
using dsl::rint;
using dsl::round;
using dsl::rsqrt;
using dsl::sigmoid;
using dsl::signbit;
using dsl::sin;
using dsl::sincos;
using dsl::sinh;
using dsl::sinpi;
using dsl::sqrt;
using dsl::tan;
using dsl::tanh;
using dsl::trunc;

namespace fast = dsl::fast;
}  // namespace kaio
