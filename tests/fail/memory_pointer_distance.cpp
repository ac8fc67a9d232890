// Pointers have no distance.
// EXPECT: kaio: a pointer is not subtracted from another one; subtract their indices
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<u32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = i - n;
#else
  y[i] = (x + i) - (x + n);
#endif
});
static_assert(k.ptx().size() > 0);
