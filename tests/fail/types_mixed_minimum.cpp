// min and max have one type on both sides.
// EXPECT: kaio: the operands have different types; write cast<T>(x) on one of them
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = min(x[i], cast<f32>(n));
#else
  y[i] = min(x[i], n);
#endif
});
static_assert(k.ptx().size() > 0);
