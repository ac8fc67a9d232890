// Cache operators and eviction priorities exclude each other.
// EXPECT: kaio: a cache operator and an eviction priority do not go together
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = load(x[i], evict::first);
#else
  y[i] = load(x[i], cache::cs, evict::first);
#endif
});
static_assert(k.ptx().size() > 0);
