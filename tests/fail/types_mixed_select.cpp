// Both sides of select have one type.
// EXPECT: kaio: the operands have different types; write cast<T>(x) on one of them
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = select(i < n, x[i], cast<f32>(i));
#else
  y[i] = select(i < n, x[i], i);
#endif
});
static_assert(k.ptx().size() > 0);
