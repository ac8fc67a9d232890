// cast_sat is for integers: a cast of a float clamps already.
// EXPECT: kaio: cast_sat takes an integer; cast<T>(x) of a float clamps already
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<u8> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = cast<u8>(x[i]);
#else
  y[i] = cast_sat<u8>(x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
