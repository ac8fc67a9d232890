// A return out of a loop body would leave the loop without its end.
// EXPECT: kaio: the body of a range() or loop() was left by break, return or goto
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(0u, n)) {
    y[i] += x[k];
    k.break_if(x[k] == 0.0f);
  }
#else
  for (auto k : t.range(0u, n)) {
    y[i] += x[k];
    return;
  }
#endif
});
static_assert(k.ptx().size() > 0);
