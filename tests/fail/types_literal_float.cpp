// A floating literal does not become an integer.
// EXPECT: kaio: a floating literal with an integer operand
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[cast<u32>(cast<f32>(i) * 1.5)] = 0.0f;
#else
  y[i * 1.5] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
