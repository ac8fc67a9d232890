// A pointer moves by an integer.
// EXPECT: kaio: an index is an integer; write cast<u32>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y, val<f32> n) {
#ifdef KAIO_FIXED
  y[t.global_id()] = (x + cast<u32>(n))[0];
#else
  y[t.global_id()] = (x + n)[0];
#endif
});
static_assert(k.ptx().size() > 0);
