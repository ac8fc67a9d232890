// A shift amount has 32 bits.
// EXPECT: kaio: a shift amount is u32 or i32
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i << n] = 0.0f;
#else
  y[i << cast<u64>(n)] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
