// A floating cell has no bit operations.
// EXPECT: kaio: a bit operation on a floating cell; write y[i] = bit_cast<f32>(bit_cast<u32>(y[i]) | bits)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = bit_cast<f32>(bit_cast<u32>(y[i]) | 0x80000000u);
#else
  y[i] |= 0x80000000u;
#endif
});
static_assert(k.ptx().size() > 0);
