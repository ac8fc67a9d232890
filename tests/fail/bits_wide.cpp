// There is no integer of 128 bits.
// EXPECT: kaio: there is no integer of 128 bits; mul_hi(a, b) gives the upper half of a product
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u64> x) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  x[i] = mul_hi(x[i], x[i]);
#else
  x[i] = mul_wide(x[i], x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
