// A condition is not compared with a number.
// EXPECT: kaio: bool and numbers do not mix; compare with zero, or write cast<T>(condition)
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = select((i < n) == true, 1.0f, x[i]);
#else
  y[i] = select((i < n) == 1, 1.0f, x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
