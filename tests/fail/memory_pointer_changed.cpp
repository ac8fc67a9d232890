// A pointer is a value of the host: it cannot move in a loop of the device.
// EXPECT: kaio: a pointer does not change while the kernel runs; write in next = x + n, and x[i] in a loop
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  var sum(t, 0.0f);
  in p = x + t.global_id();
  for (auto k : t.range(0u, n)) {
#ifdef KAIO_FIXED
    sum += (p + k * 128)[0];
#else
    sum += p[0];
    p += 128;
#endif
  }
  y[t.global_id()] = sum;
});
static_assert(k.ptx().size() > 0);
