// A val of a literal does not collect loads.
// EXPECT: kaio: a val never changes; declare a var to assign to
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, in<u32> w, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var s(t, 0.0f);
  s += x[i];
  y[n] = s + cast<f32>(w[i]);
#else
  val s = 0.0f;
  s += x[i];
  y[n] = s + cast<f32>(w[i]);
#endif
});
static_assert(k.ptx().size() > 0);
