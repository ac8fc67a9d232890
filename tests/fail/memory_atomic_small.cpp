// The smallest atomic operation has 16 bits.
// EXPECT: kaio: there are no atomic operations on 8 bits; use u32
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u8> x, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  atomic_add(y[0], 1u);
  x[i] = 1;
#else
  atomic_add(x[0], 1);
  y[i] = 1;
#endif
});
static_assert(k.ptx().size() > 0);
