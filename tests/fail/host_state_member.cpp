// A class whose member a loop of the device changes.
// EXPECT: kaio: the body of a range() or loop() uses a variable of the host that it changes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  struct ring {
    u32 place = 0;
    constexpr u32 next() { return place++; }
  };
  ring r;
  var sum(t, 0u);
#ifdef KAIO_FIXED
  for (u32 q = 0; q < 4; ++q) sum += x[q] * r.next();
#else
  for (auto q : t.range(0u, n)) sum += x[q] * r.next();
#endif
  y[i] = sum;
});
static_assert(k.ptx().size() > 0);
