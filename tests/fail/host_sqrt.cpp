// std::sqrt takes numbers of the host.
// EXPECT: sqrt
#include <kaio/dsl/dsl.hpp>

#include <cmath>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val a = x[i];
  y[i] = sqrt(a);
#else
  val a = x[i];
  y[i] = std::sqrt(a);  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
