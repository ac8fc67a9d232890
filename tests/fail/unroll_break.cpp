// A break out of an unrolled body would leave its copies half made.
// EXPECT: kaio: the body of a range() or loop() was left by break, return or goto
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  u32 copy = 0;
  for (auto k : t.range(0u, n).unroll<4>()) {
    y[k] = x[k];
    k.break_if(x[k] == 0.0f);
    ++copy;
  }
#else
  u32 copy = 0;
  for (auto k : t.range(0u, n).unroll<4>()) {
    y[k] = x[k];
    if (++copy == 3) break;
  }
#endif
});
static_assert(k.ptx().size() > 0);
