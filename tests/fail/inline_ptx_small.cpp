// No register of PTX has 8 bits.
// EXPECT: kaio: a ptx_op takes and gives bool and numbers of 16, 32 and 64 bits
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto count = ptx_op<"popc.b32", u32(u32), ptx_effect::pure>;
#else
inline constexpr auto count = ptx_op<"popc.b32", u8(u32), ptx_effect::pure>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
  y[i] = cast<u32>(count(i));
});
static_assert(k.ptx().size() > 0);
