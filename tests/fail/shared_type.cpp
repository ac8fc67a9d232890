// A cell keeps its type.
// EXPECT: kaio: the value stored has another type
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  shared<f32, 128> s(t);
  s[i] = x[i];
  y[i] = x[i];
#else
  shared<u32, 128> s(t);
  s[i] = x[i];  // HERE
  y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
