// Bits of a float are named.
// EXPECT: kaio: a bit operation on a floating value; write bit_cast<u32>(x) or bit_cast<u64>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = bit_cast<f32>(bit_cast<u32>(x[i]) & 255);
#else
  y[i] = x[i] & 255;
#endif
});
static_assert(k.ptx().size() > 0);
