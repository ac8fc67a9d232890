// Positions and amounts have 32 bits.
// EXPECT: kaio: a position, a length or an amount is u32 or i32; write cast<u32>(n)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u64> x) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  x[i] = rotate_left(x[i], cast<u32>(x[i]));
#else
  x[i] = rotate_left(x[i], x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
