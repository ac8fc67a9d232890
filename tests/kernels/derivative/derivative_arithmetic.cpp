// The derivatives of arithmetic, choices, roots and powers.
#include "tests/kernels/derivative/derivative_support.hpp"

using namespace kaio;
using namespace kaio::tests;

TEMPLATE_TEST_CASE("derivatives of arithmetic", "[derivative]", f32, f64) {
  derivative_test<arithmetic_cases, TestType>::run();
  derivative_test<choice_cases, TestType>::run();
  derivative_test<root_cases, TestType>::run();
}

TEMPLATE_TEST_CASE("derivatives of exponentials and powers", "[derivative]", f32, f64) {
  derivative_test<exponential_cases, TestType>::run();
  derivative_test<power_cases, TestType>::run();
}
