// A comparison has one type on both sides.
// EXPECT: kaio: the operands have different types; write cast<T>(x) on one of them
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = select(x[i] < cast<f32>(i), 1.0f, x[i]);
#else
  y[i] = select(x[i] < i, 1.0f, x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
