// Two literals have one type.
// EXPECT: kaio: the two literals of select have different types; write both in one: 1.0f and 0.0f
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = select(i < 7, 1.0f, 0.0f);
#else
  y[i] = select(i < 7, 1.0f, 0);
#endif
});
static_assert(k.ptx().size() > 0);
