// A count of the rounds of a loop of the device.
// EXPECT: assigns a variable of the host that is used after it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var count(t, 0u);
  for (auto r : t.range(0u, n)) count = r + 1;
#else
  u32 count = 0;
  for (auto r : t.range(0u, n)) {
    ++count;
    y[i] = r;
  }
#endif
  y[i] = i + count;
});
static_assert(k.ptx().size() > 0);
