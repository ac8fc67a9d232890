// Conditions have no order.
// EXPECT: kaio: bool has no order; use ==, !=, &, | and !
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = select((i < n) != (i > 3), 1.0f, x[i]);
#else
  y[i] = select((i < n) < (i > 3), 1.0f, x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
