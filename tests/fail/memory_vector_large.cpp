// A vector has 16 bytes at most.
// EXPECT: kaio: a vector has at most 16 bytes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = sizeof(vec<f64, 2>);
#else
  y[i] = sizeof(vec<f64, 4>);
#endif
});
static_assert(k.ptx().size() > 0);
