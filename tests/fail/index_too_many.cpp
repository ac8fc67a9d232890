// A number in memory has no elements.
// EXPECT: kaio: one index too many: the element is already a number
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = x[i];
#else
  y[i] = x[i][0];
#endif
});
static_assert(k.ptx().size() > 0);
