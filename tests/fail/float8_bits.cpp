// The bits of a number of 8 bits are a u8.
// EXPECT: kaio: a bit operation on e4m3 or e5m2; write bit_cast<u8>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<e4m3> x, out<e4m3> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = bit_cast<e4m3>(bit_cast<u8>(x[i]) & bit_cast<u8>(x[i + 1]));
#else
  y[i] = x[i] & x[i + 1];
#endif
});
static_assert(k.ptx().size() > 0);
