// i32 and u32 do not mix: the sign decides what a comparison means.
// EXPECT: kaio: the operands have different types; write cast<T>(x) on one of them
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val s = cast<i32>(i) - 5;
  y[i] = select(s < cast<i32>(n), 1.0f, x[i]);
#else
  val s = cast<i32>(i) - 5;
  y[i] = select(s < n, 1.0f, x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
