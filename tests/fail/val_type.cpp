// A val that spells its type has it.
// EXPECT: kaio: the val has another type than its value; write cast<T>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val<f32> half = cast<f32>(i) * 0.5f;
  y[i] = half;
#else
  val<f32> half = i / 2;
  y[i] = half;
#endif
});
static_assert(k.ptx().size() > 0);
