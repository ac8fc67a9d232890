// A loop that nothing leaves would hang the device.
// EXPECT: kaio: a loop() that nothing leaves
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto l : t.loop()) {
    y[i] += 1.0f;
    l.break_if(y[i] > 8.0f);
  }
#else
  for (auto l : t.loop()) y[i] += 1.0f;
#endif
});
static_assert(k.ptx().size() > 0);
