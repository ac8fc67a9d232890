// A val never changes, by a shift neither.
// EXPECT: kaio: a val never changes; declare a var to assign to
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<u32> x, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var s = x[i];
  s <<= 1u;
  y[i] = s;
#else
  val s = x[i];
  s <<= 1u;
  y[i] = s;
#endif
});
static_assert(k.ptx().size() > 0);
