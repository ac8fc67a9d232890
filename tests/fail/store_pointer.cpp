// A pointer is no number.
// EXPECT: kaio: the stored value is neither a device value nor a number
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = x[i];
#else
  y[i] = x;
#endif
});
static_assert(k.ptx().size() > 0);
