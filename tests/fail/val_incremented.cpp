// A val never changes, by one neither.
// EXPECT: kaio: a val never changes; declare a var to assign to
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val j = i + 1u;
  y[j] = x[j];
#else
  ++i;
  y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
