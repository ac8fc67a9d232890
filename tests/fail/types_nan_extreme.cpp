// An integer is never NaN.
// EXPECT: kaio: min_nan and max_nan take floats; write min(a, b) for integers
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = min(i, 3u);
#else
  y[i] = min_nan(i, 3u);
#endif
});
static_assert(k.ptx().size() > 0);
