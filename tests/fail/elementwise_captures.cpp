// The function of elementwise captures nothing; numbers are inputs.
// EXPECT: kaio: the function of elementwise is a lambda that captures nothing; pass numbers as inputs
#include <kaio/ops/elementwise.hpp>
using namespace kaio;

void scale(const stream& s, const tensor_view<f32, 2>& y, const tensor_view<f32, 2>& x, f32 factor) {
#ifdef KAIO_FIXED
  elementwise(
      s, [](const val<f32>& a, const val<f32>& b) { return a * b; }, y, x, factor);
#else
  elementwise(
      s, [=](const val<f32>& a) { return a * factor; }, y, x);
#endif
}
