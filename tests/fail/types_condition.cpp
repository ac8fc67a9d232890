// when() takes a condition, not a number.
// EXPECT: kaio: when() takes a condition; write x != 0
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  if (auto g = t.when(n != 0)) y[i] = 0.0f;
#else
  if (auto g = t.when(n)) y[i] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
