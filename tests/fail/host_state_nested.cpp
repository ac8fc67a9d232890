// A guard inside a loop changes what the loop's body uses.
// EXPECT: assigns a variable of the host that is used after it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  for (auto r : t.range(0u, n)) {
    u32 weight = 1;
#ifdef KAIO_FIXED
    if (auto g = t.when(x[r] < 3u)) y[r] = 0u;
#else
    if (auto g = t.when(x[r] < 3u)) weight = 2;
#endif
    y[i] += r * weight;
  }
});
static_assert(k.ptx().size() > 0);
