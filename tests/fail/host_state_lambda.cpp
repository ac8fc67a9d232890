// A lambda's own state, changed where a guard calls it.
// EXPECT: assigns a variable of the host that is used after it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  u32 calls = 0;
  const auto store = [&](const val<u32>& v) {
    y[i] = v + calls;
    ++calls;
  };
#ifdef KAIO_FIXED
  store(i);
#else
  if (auto g = t.when(i < n)) store(i);
#endif
  store(n);
});
static_assert(k.ptx().size() > 0);
