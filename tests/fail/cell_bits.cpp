// Cells have the four sums and products.
// EXPECT: kaio: a cell has +=, -=, *= and /=; write y[i] = y[i] | x for the others
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<u32> x, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = y[i] | x[i];
#else
  y[i] |= x[i];
#endif
});
static_assert(k.ptx().size() > 0);
