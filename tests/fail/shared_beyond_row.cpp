// An index that the host knows is inside its dimension.
// EXPECT: kaio: an index is outside its array
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  shared<f32, 4, 4> s(t);
  s[1][0] = x[i];
  y[i] = s[1][0];
#else
  shared<f32, 4, 4> s(t);
  s[0][4] = x[i];
  y[i] = s[1][0];
#endif
});
static_assert(k.ptx().size() > 0);
