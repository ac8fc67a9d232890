// A literal beyond the greatest number of its type is a mistake, unless it is an infinity.
// EXPECT: beyond the greatest number of its type
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<e4m3> x, out<e4m3> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = 448.0f;
#else
  y[i] = 500.0f;
#endif
});
static_assert(k.ptx().size() > 0);
