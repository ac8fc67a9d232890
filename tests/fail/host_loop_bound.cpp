// A for over a device bound is a t.range.
// EXPECT: kaio: a device value in a host condition
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto q : t.range(0u, n)) y[q] = x[q];
#else
  for (u32 q = 0; q < n; ++q) y[q] = x[q];  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
