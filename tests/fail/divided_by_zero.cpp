// PTX gives no meaning to an integer divided by zero.
// EXPECT: kaio: an integer is divided by 0
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<u32> x, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = x[i] / 2;
#else
  y[i] = x[i] / 0;
#endif
});
static_assert(k.ptx().size() > 0);
