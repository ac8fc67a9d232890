// A vector is not stored to a number.
// EXPECT: kaio: a vector is stored to a number
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32x2> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val v = x[i];
  y[i] = v[0];
#else
  y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
