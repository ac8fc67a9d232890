// A literal knows no kernel, so the type of the val is deduced.
// EXPECT: kaio: a literal knows no kernel; write `val name = literal` and let the type be deduced
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val one = 1.0f;
  y[i] = one;
#else
  val<f32> one = 1.0f;
  y[i] = one;
#endif
});
static_assert(k.ptx().size() > 0);
