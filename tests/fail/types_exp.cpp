// exp is for floating values.
// EXPECT: kaio: a mathematical function takes a floating value
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = exp(cast<f32>(i));
#else
  y[i] = exp(i);
#endif
});
static_assert(k.ptx().size() > 0);
