// break_if takes a condition.
// EXPECT: kaio: break_if and continue_if take a condition; write x != 0
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(0u, n)) k.break_if(k != 0);
#else
  for (auto k : t.range(0u, n)) k.break_if(k);
#endif
});
static_assert(k.ptx().size() > 0);
