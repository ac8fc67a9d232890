// Groups of lanes are powers of two.
// EXPECT: kaio: the width of a shuffle is a power of two up to 32
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = warp_reduce<8>(t, x[i], plus{});
#else
  y[i] = warp_reduce<12>(t, x[i], plus{});
#endif
});
static_assert(k.ptx().size() > 0);
