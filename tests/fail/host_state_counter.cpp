// A count of the times that a guard was passed.
// EXPECT: assigns a variable of the host that is used after it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var count(t, 0u);
  if (auto g = t.when(i < n)) count += 1;
#else
  u32 count = 0;
  if (auto g = t.when(i < n)) ++count;
#endif
  y[i] = i + count;
});
static_assert(k.ptx().size() > 0);
