// std::min of two vals compares on the host.
// EXPECT: kaio: a device value in a host condition
#include <kaio/dsl/dsl.hpp>

#include <algorithm>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val a = x[i];
  val b = y[i];
  y[i] = min(a, b);
#else
  val a = x[i];
  val b = y[i];
  y[i] = std::min(a, b);  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
