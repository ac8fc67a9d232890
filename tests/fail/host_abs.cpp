// std::abs takes numbers of the host.
// EXPECT: abs
#include <kaio/dsl/dsl.hpp>

#include <cmath>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = abs(x[i]);
#else
  y[i] = std::abs(x[i]);  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
