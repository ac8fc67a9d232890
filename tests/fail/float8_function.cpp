// A function computes, so it takes f32.
// EXPECT: kaio: a mathematical function takes a floating value
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<e4m3> x, out<e4m3> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = cast<e4m3>(exp(cast<f32>(x[i])));
#else
  y[i] = exp(x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
