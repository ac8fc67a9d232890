// Two cache operators contradict each other.
// EXPECT: kaio: two policies of one kind were given to one access
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = load(x[i], cache::cs);
#else
  y[i] = load(x[i], cache::cs, cache::cg);
#endif
});
static_assert(k.ptx().size() > 0);
