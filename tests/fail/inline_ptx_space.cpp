// The state space of an address is that of the instruction.
// EXPECT: kaio: a ptx_global is for an instruction with .global in its name, a ptx_shared for one with .shared
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto read = ptx_op<"ld.global.u32", u32(ptx_global), ptx_effect::memory>;
#else
inline constexpr auto read = ptx_op<"ld.shared.u32", u32(ptx_global), ptx_effect::memory>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> y) {
  val i = t.global_id();
  val x = read(t, y[i]);
  y[i + 1] = x;
});
static_assert(k.ptx().size() > 0);
