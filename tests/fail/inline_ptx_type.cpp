// An operand of another type than the signature's.
// EXPECT: kaio: an operand of a ptx_op has another type than its signature says; write cast<T>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto count = ptx_op<"popc.b32", u32(u32), ptx_effect::pure>;
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = count(i);
#else
  y[i] = count(cast<u64>(i));
#endif
});
static_assert(k.ptx().size() > 0);
