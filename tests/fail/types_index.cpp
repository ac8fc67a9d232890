// An index is an integer.
// EXPECT: kaio: an index is an integer
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[cast<u32>(x[i])] = 0.0f;
#else
  y[x[i]] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
