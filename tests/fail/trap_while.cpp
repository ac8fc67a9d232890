// A device comparison cannot drive a C++ loop.
// EXPECT: kaio: a device value in a host condition
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(i, n, 128)) y[k] = x[k];
#else
  var k = i;
  while (k < n) {
    y[k] = x[k];
    k += 128;
  }
#endif
});
static_assert(k.ptx().size() > 0);
