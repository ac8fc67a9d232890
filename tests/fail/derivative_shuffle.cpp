// A shuffle gives the value of another lane.
// EXPECT: kaio: derivative of a shuffle, vote or reduction
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  val z = s * shfl_xor(x[n], 1u);
#else
  val z = s * shfl_xor(s, 1u);  // HERE
#endif
  y[i] = derivative(z, s);
});
static_assert(k.ptx().size() > 0);
