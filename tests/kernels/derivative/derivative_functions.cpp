// The derivatives of trigonometric functions, activations and fast functions.
#include "tests/kernels/derivative/derivative_support.hpp"

using namespace kaio;
using namespace kaio::tests;

TEMPLATE_TEST_CASE("derivatives of trigonometric functions", "[derivative]", f32, f64) {
  derivative_test<trigonometric_cases, TestType>::run();
  derivative_test<inverse_cases, TestType>::run();
}

TEMPLATE_TEST_CASE("derivatives of activations", "[derivative]", f32, f64) {
  derivative_test<hyperbolic_cases, TestType>::run();
  derivative_test<activation_cases, TestType>::run();
}

TEST_CASE("derivatives of the special function unit's approximations", "[derivative]") {
  derivative_test<fast_cases, f32>::run();
  derivative_test<ftz_cases, f32>::run();
}
