// One val declares values of one type.
// EXPECT: deduc
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val a = x[i];
  val b = i;
  y[b] = a;
#else
  val a = x[i], b = i;  // HERE
  y[b] = a;
#endif
});
static_assert(k.ptx().size() > 0);
