// A reduction is given its operator.
// EXPECT: kaio: warp_reduce takes the thread, a value and an operator
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = warp_reduce(t, x[i], plus{});
#else
  y[i] = warp_reduce(t, x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
