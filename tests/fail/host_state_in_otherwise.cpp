// The other body of a guard changes it.
// EXPECT: assigns a variable of the host that is used after it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  u32 weight = 1;
  if (auto g = t.when(i < n)) y[i] = 0u;
#ifdef KAIO_FIXED
  if (auto g = t.otherwise()) y[i] = 1u;
#else
  if (auto g = t.otherwise()) weight = 2;
#endif
  y[i] = x[i] * weight;
});
static_assert(k.ptx().size() > 0);
