// A tree without a kernel cannot be exchanged: where would the instruction go?
// EXPECT: kaio: the value knows no kernel yet; bind it with t.let(value)
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = shfl_down(t.let(lane_id() * 2), 1);
#else
  y[i] = shfl_down(lane_id() * 2, 1);
#endif
});
static_assert(k.ptx().size() > 0);
