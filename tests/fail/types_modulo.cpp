// % is for integers.
// EXPECT: kaio: % on floating values
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = cast<f32>(i % 2);
#else
  y[i] = x[i] % 2.0f;
#endif
});
static_assert(k.ptx().size() > 0);
