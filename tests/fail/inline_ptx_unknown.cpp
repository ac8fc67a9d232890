// A mnemonic that the catalogue does not have: a spelling mistake.
// EXPECT: kaio: the catalogue does not know this mnemonic or one of its suffixes; check the spelling
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto count = ptx_op<"popc.b32", u32(u32), ptx_effect::pure>;
#else
inline constexpr auto count = ptx_op<"pocp.b32", u32(u32), ptx_effect::pure>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
  y[i] = count(i);
});
static_assert(k.ptx().size() > 0);
