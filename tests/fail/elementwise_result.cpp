// The function of elementwise returns the output's type.
// EXPECT: kaio: the function of elementwise returns the output's type, or an f32 for f16, bf16, e4m3 and e5m2
#include <kaio/ops/elementwise.hpp>
using namespace kaio;

void count(const stream& s, const tensor_view<i32, 2>& y, const tensor_view<f32, 2>& x) {
#ifdef KAIO_FIXED
  elementwise(
      s, [](const val<f32>& a) { return cast<i32>(a); }, y, x);
#else
  elementwise(
      s, [](const val<f32>& a) { return a + 1.0f; }, y, x);
#endif
}
