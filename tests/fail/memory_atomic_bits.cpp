// Bit operations are for integers.
// EXPECT: kaio: a bit operation on a floating cell
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<f32> x, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  atomic_or(y[0], 1u);
  x[i] = 1;
#else
  atomic_or(x[0], 1.0f);
  y[i] = 1;
#endif
});
static_assert(k.ptx().size() > 0);
