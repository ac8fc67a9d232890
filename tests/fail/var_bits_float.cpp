// A floating variable has no bits to mask.
// EXPECT: kaio: a bit operation on a floating var
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var v = bit_cast<u32>(x[i]);
  v &= 3;
  y[i] = cast<f32>(v);
#else
  var v = x[i];
  v &= 3.0f;
  y[i] = v;
#endif
});
static_assert(k.ptx().size() > 0);
