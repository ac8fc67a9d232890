// A member that the thread does not have: the compiler says it.
// EXPECT: globalid
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val j = t.global_id();
  y[j] = x[i];
#else
  val j = t.globalid();  // HERE
  y[j] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
