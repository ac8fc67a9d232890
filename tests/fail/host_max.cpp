// std::max compares on the host.
// EXPECT: kaio: a device value in a host condition
#include <kaio/dsl/dsl.hpp>

#include <algorithm>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = max(x[i], y[i]);
#else
  y[i] = std::max<val<f32>>(x[i], y[i]);  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
