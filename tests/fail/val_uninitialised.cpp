// A val has its value from the start.
// EXPECT: kaio: a val has its value from the start
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val<f32> v = x[i];
  y[i] = v;
#else
  val<f32> v;
  y[i] = v;
#endif
});
static_assert(k.ptx().size() > 0);
