// An unsigned range counts up.
// EXPECT: kaio: a literal does not fit the integer type of the operand
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(cast<i32>(n), 0, -1)) y[k] = 0.0f;
#else
  for (auto k : t.range(n, 0u, -1)) y[k] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
