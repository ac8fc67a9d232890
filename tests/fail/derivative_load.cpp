// A value that memory holds at an address that depends on the variable.
// EXPECT: kaio: derivative of a load whose address depends on the variable
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  val z = s * x[i + 1u];
#else
  val z = s * x[cast<u32>(s)];  // HERE
#endif
  y[i] = derivative(z, s);
});
static_assert(k.ptx().size() > 0);
