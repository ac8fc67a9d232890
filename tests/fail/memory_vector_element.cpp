// There is no element beyond the last.
// EXPECT: kaio: an element index outside the vector
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32x2> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val v = x[i];
  y[i] = v[1];
#else
  val v = x[i];
  y[i] = v[2];
#endif
});
static_assert(k.ptx().size() > 0);
