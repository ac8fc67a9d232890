// An array in registers indexed by a number of the host that a loop of the device changes.
// EXPECT: kaio: the body of a range() or loop() uses a variable of the host that it changes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  const auto a = array_of<4>([&](u32 q) { return t.let(x[q]); });
  var sum(t, 0u);
#ifdef KAIO_FIXED
  for (u32 q = 0; q < 4; ++q) sum += a[q];
#else
  u32 q = 0;
  for (auto r : t.range(0u, 4u)) {
    sum += a[q] + r;
    q = (q + 1) % 4;
  }
#endif
  y[i] = sum;
});
static_assert(k.ptx().size() > 0);
