// The mathematical functions.
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/math/fast_kernels.hpp"
#include "tests/kernels/math/function_kernels.hpp"
#include "tests/kernels/math/kernels_exponential.hpp"
#include "tools/registry.hpp"

namespace kaio::tools {
namespace {

const family list("math", [] {
  using namespace tests;
  return images(elementary<f32>, elementary<f64>, exponentials<f32>, exponentials<f64>, exponentials<f16>,
                exponentials<bf16>, powers<f32>, powers<f64>, fast_exponentials<f32>, trigonometric<f32>,
                trigonometric<f64>, trigonometric<f16>, trigonometric<bf16>, trigonometric<f16x2>,
                inverse_trigonometric<f32>, inverse_trigonometric<f64>, inverse_trigonometric<f16>,
                inverse_trigonometric<bf16>, roots<f32>, roots<f64>, roots<f16>, roots<bf16>, roundings<f32>,
                roundings<f64>, roundings<f16>, roundings<bf16>, of_two<f32>, of_two<f64>, classes<f32>,
                classes<f64>, fast_units, fast_flushing, fast_halves<f16, 70>, fast_halves<f16x2, 70>,
                fast_halves<f16, 75>, fast_halves<f16x2, 75>, fast_halves<bf16, 80>, fast_halves<bf16x2, 80>,
                fast_halves<bf16, 90>, fast_halves<bf16x2, 90>, nan_extremes<f64, 80>, nan_extremes<f32, 70>,
                nan_extremes<f32, 80>, nan_extremes<f16, 70>, nan_extremes<f16, 80>, nan_extremes<bf16, 70>,
                nan_extremes<bf16, 80>, nan_extremes<f16x2, 70>, nan_extremes<f16x2, 80>);
});

}  // namespace
}  // namespace kaio::tools
