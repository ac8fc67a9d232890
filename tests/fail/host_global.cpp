// A global of the host is not read by a kernel.
// EXPECT: factor
// LATE(clang): the calls between the body and the place where the number is read come first
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

float factor = 2.0f;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  constexpr float known = 2.0f;
  y[i] = x[i] * known;
#else
  y[i] = x[i] * factor;  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
