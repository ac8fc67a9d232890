// A guard without a name ends before the body begins, which would run unguarded.
// EXPECT: kaio: the guard needs a name to live as long as its body
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  if (auto g = t.when(i < n)) y[i] = x[i];
#else
  if (t.when(i < n)) y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
