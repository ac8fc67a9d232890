// A val never changes.
// EXPECT: kaio: a val never changes; declare a var to assign to
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var sum = x[i];
  sum = x[i + 1];
  y[i] = sum;
#else
  val sum = x[i];
  sum = x[i + 1];
  y[i] = sum;
#endif
});
static_assert(k.ptx().size() > 0);
