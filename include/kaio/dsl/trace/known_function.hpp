#pragma once
// The mathematical functions whose derivatives the language knows. Their instructions take numbers apart and
// cannot be differentiated. So a tracer notes the function that gave a value (tracer::computed), and
// derivative() takes its rule (derivative/function_rules.hpp).

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::dsl {

enum class known_function : std::uint8_t {
  none,  // its instructions can be differentiated, one by one
  rsqrt,
  cbrt,
  hypot,
  sigmoid,
  gelu,
  gelu_tanh,
  sin,
  cos,
  tan,
  sinpi,
  cospi,
  erf,
  erfc,
  exp,
  exp2,
  exp10,
  expm1,
  pow,
  asin,
  acos,
  atan,
  atan2,
  fmod,
  sinh,
  cosh,
  tanh,
  log,
  log2,
  log10,
  log1p,
};

}  // namespace kaio::dsl
