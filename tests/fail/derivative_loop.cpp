// A round of a loop may have the variable from an earlier one, which is written further down.
// EXPECT: kaio: derivative of a var that was written after the variable
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  var sum(t, 0.0f);
#ifdef KAIO_FIXED
  for (auto j : t.range(0u, n)) {
    val s = x[j];
    sum += derivative(s * s, s);
  }
#else
  val s = x[i];
  for (auto j : t.range(0u, n)) {
    val z = sum * s;  // HERE
    y[j] = derivative(z, s);
    sum += s;
  }
#endif
  y[i] = sum;
});
static_assert(k.ptx().size() > 0);
