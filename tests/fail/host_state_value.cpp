// A device value chosen by what a guarded body assigned.
// EXPECT: assigns a variable of the host that is used after it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  const auto a = array_of<2>([&](u32 q) { return t.let(x[i + q]); });
  u32 chosen = 0;
#ifndef KAIO_FIXED
  if (auto g = t.when(i < n)) chosen = 1;
#endif
  y[i] = a[chosen];
});
static_assert(k.ptx().size() > 0);
