// A vote is on a condition.
// EXPECT: kaio: a vote takes a condition; write x != 0
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<u32> x, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = ballot(x[i] != 0);
#else
  y[i] = ballot(x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
