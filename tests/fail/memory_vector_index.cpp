// Elements of a vector have no address.
// EXPECT: kaio: the elements of a vector are in registers
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32x4> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val v = x[i];
  y[i] = v[2];
#else
  val v = x[i];
  y[i] = v[i];
#endif
});
static_assert(k.ptx().size() > 0);
