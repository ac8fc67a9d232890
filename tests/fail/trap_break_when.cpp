// A break in a guarded body inside a loop would drop the rest of the loop.
// EXPECT: kaio: the body of a range() or loop() was left by break
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(0u, n)) {
    k.break_if(x[k] < 0.0f);
    y[i] += x[k];
  }
#else
  for (auto k : t.range(0u, n)) {
    if (auto g = t.when(x[k] < 0.0f)) break;
    y[i] += x[k];
  }
#endif
});
static_assert(k.ptx().size() > 0);
