// An integer of the host does not collect bits.
// EXPECT: kaio: a variable of the host cannot collect device values; declare a var: var s(t, 0.0f), then s += x
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, in<u32> w, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var s(t, 0u);
  s ^= w[i];
  y[i] = x[n] + cast<f32>(s);
#else
  unsigned s = 0;
  s ^= w[i];
  y[i] = x[n] + static_cast<float>(s);
#endif
});
static_assert(k.ptx().size() > 0);
