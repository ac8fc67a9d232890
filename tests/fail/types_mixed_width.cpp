// There is no silent widening either.
// EXPECT: kaio: the operands have different types
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val<u64> wide = cast<u64>(n) + cast<u64>(i);
  y[wide] = x[wide];
#else
  val<u64> wide = cast<u64>(n) + i;
  y[wide] = x[wide];
#endif
});
static_assert(k.ptx().size() > 0);
