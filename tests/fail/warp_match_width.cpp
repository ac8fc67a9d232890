// match compares 32 or 64 bits.
// EXPECT: kaio: match takes values of 32 or 64 bits; write cast<u32>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<u8> x, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = match_any(cast<u32>(x[i]));
#else
  y[i] = match_any(x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
