// Two tiles in turn, by an index of the host in a loop of the device.
// EXPECT: kaio: the body of a range() or loop() uses a variable of the host that it changes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  shared_tiles<u32, 1, 64, row_major, 2> s(t);
  s[0][0][i] = i;
  t.barrier();
#ifdef KAIO_FIXED
  for (auto r : t.range(0u, n)) {
    s[(r + 1) & 1][0][i] = s[r & 1][0][(i + 1) % 64];
    t.barrier();
  }
#else
  u32 now = 0;
  for (auto r : t.range(0u, n)) {
    s[1 - now][0][i] = s[now][0][(i + 1) % 64] + r;
    now = 1 - now;
    t.barrier();
  }
#endif
  y[i] = s[0][0][i];
});
static_assert(k.ptx().size() > 0);
