// A first round that a flag of the host should make another one.
// EXPECT: kaio: the body of a range() or loop() uses a variable of the host that it changes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  var sum(t, 0u);
#ifdef KAIO_FIXED
  for (auto r : t.range(0u, n)) sum = select(r == 0, x[r], sum + x[r]);
#else
  bool is_first = true;
  for (auto r : t.range(0u, n)) {
    if (is_first)
      sum = x[r];
    else
      sum += x[r];
    is_first = false;
  }
#endif
  y[i] = sum;
});
static_assert(k.ptx().size() > 0);
