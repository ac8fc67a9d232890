// A flag that is set after a loop's break_if, and read after the loop.
// EXPECT: assigns a variable of the host that is used after it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var found(t, 0u);
#else
  u32 found = 0;
#endif
  for (auto l : t.loop()) {  // HERE
    l.break_if(y[i] > n);
    y[i] += 1u;
    found = 1;
  }
  y[i] = found;
});
static_assert(k.ptx().size() > 0);
