// std::exp takes numbers of the host.
// EXPECT: exp
#include <kaio/dsl/dsl.hpp>

#include <cmath>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = exp(x[i]);
#else
  y[i] = std::exp(x[i]);  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
