// The contents of memory change.
// EXPECT: kaio: a ptx_op that takes an address is not pure; write ptx_effect::memory
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto read = ptx_op<"ld.global.u32 $0, [$1]", u32(ptx_global), ptx_effect::memory>;
#else
inline constexpr auto read = ptx_op<"ld.global.u32 $0, [$1]", u32(ptx_global), ptx_effect::pure>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> y) {
  val i = t.global_id();
  val x = read(t, y[i]);
  y[i + 1] = x;
});
static_assert(k.ptx().size() > 0);
