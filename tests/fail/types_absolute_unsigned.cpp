// An unsigned number is its own absolute value.
// EXPECT: kaio: abs of an unsigned or bool value is the value itself
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = cast<f32>(abs(cast<i32>(n)));
#else
  y[i] = cast<f32>(abs(n));
#endif
});
static_assert(k.ptx().size() > 0);
