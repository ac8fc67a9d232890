// Shared memory is not cached.
// EXPECT: kaio: cache policies are for global memory
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  shared<f32, 128> s(t);
  s[i] = load(x[i], cache::cs);
  y[i] = s[i];
#else
  shared<f32, 128> s(t);
  s[i] = x[i];
  y[i] = load(s[i], cache::cs);
#endif
});
static_assert(k.ptx().size() > 0);
