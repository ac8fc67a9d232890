// A pointer belongs to the scope that made it.
// EXPECT: kaio: a pointer was used outside the guarded body or loop that made it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  auto row = x.from(i);
  if (auto g = t.when(i < 5)) y[0] = row[1];
  y[i] = row[0];
#else
  auto row = x;
  if (auto g = t.when(i < 5)) row = x.from(i);
  y[i] = row[0];
#endif
});
static_assert(k.ptx().size() > 0);
