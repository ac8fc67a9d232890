// The copies of an unrolled loop take turns, and the loop for the rest has more than one round.
// EXPECT: kaio: the body of a range() or loop() uses a variable of the host that it changes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  const auto a = array_of<2>([&](u32 q) { return t.let(x[q]); });
  var sum(t, 0u);
  u32 now = 0;
#ifdef KAIO_FIXED
  for (auto r : t.range(0u, n).unroll<2>()) {
#else
  for (auto r : t.range(0u, n).unroll<4>()) {
#endif
    sum += a[now] + r;  // HERE
    now = 1 - now;
  }
  y[i] = sum;
});
static_assert(k.ptx().size() > 0);
