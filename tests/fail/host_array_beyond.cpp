// An array in registers has as many elements as it says.
// EXPECT: kaio: an index is outside its array
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  const auto a = array_of<4>([&](u32 q) { return t.let(x[i + q]); });
  y[i] = a[3];
#else
  const auto a = array_of<4>([&](u32 q) { return t.let(x[i + q]); });
  y[i] = a[4];  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
