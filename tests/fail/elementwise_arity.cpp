// The function of elementwise takes a value of each input.
// EXPECT: kaio: the function of elementwise takes `thread t`, or none, and a value of each input
#include <kaio/ops/elementwise.hpp>
using namespace kaio;

void gate(const stream& s, const tensor_view<f16, 2>& y, const tensor_view<f16, 2>& x,
          const tensor_view<f16, 2>& g) {
#ifdef KAIO_FIXED
  elementwise(
      s, [](const val<f32>& a, const val<f32>& b) { return a * b; }, y, x, g);
#else
  elementwise(
      s, [](const val<f32>& a) { return a * a; }, y, x, g);
#endif
}
