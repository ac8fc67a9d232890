// A vector in an array begins at a multiple of its size.
// EXPECT: kaio: a vector in an array begins at a multiple of its size
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  shared<f32, 64> s(t);
  y[i] = load_vec<4>(s[4])[0];
#else
  shared<f32, 64> s(t);
  y[i] = load_vec<4>(s[6])[0];
#endif
});
static_assert(k.ptx().size() > 0);
