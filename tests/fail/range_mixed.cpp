// The bounds of a range have one type.
// EXPECT: kaio: the bounds and the step of a range() have different types; write cast<T>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(cast<i32>(i), cast<i32>(n))) y[k] = 0.0f;
#else
  for (auto k : t.range(cast<i32>(i), n)) y[k] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
