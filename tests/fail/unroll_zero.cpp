// A loop has one copy or more.
// EXPECT: kaio: unroll() takes a number of copies from 1 to 256
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(0u, n).unroll<1>()) y[k] = x[k];
#else
  for (auto k : t.range(0u, n).unroll<0>()) y[k] = x[k];
#endif
});
static_assert(k.ptx().size() > 0);
