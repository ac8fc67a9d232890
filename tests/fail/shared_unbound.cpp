// A shared array belongs to a kernel.
// EXPECT: kaio: an array of the kernel needs its thread; write shared<f32, 32> name(t)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  shared<f32, 32> s(t);
  s[0] = x[i];
  y[i] = s[0];
#else
  shared<f32, 32> s;
  s[0] = x[i];
  y[i] = s[0];
#endif
});
static_assert(k.ptx().size() > 0);
