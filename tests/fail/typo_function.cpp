// A function that does not exist: the compiler says it.
// EXPECT: squareroot
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = sqrt(x[i]);
#else
  y[i] = squareroot(x[i]);  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
