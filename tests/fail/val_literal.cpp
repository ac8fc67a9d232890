// An operation on literals that the compiler does not compute needs a kernel.
// EXPECT: kaio: this is computed from literals alone, which know no kernel; bind one of them: t.let(1.0f)
// LATE: found where literals are folded, before there is a kernel that could keep the line
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val<f32> two = t.let(2.0f);
#else
  val<f32> two = 2.0f;
#endif
  val<f32> power = exp2(two);
  y[i] = x[i] * power;
});
static_assert(k.ptx().size() > 0);
