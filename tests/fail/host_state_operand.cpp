// A number of the host that a guarded body changes, as an operand after it.
// EXPECT: assigns a variable of the host that is used after it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var weight(t, 1u);
#else
  u32 weight = 1;
#endif
  if (auto g = t.when(i < n)) weight = 2;  // HERE
  y[i] = i * weight;
});
static_assert(k.ptx().size() > 0);
