// A val of a literal knows no kernel that a var could live in.
// EXPECT: kaio: a var that starts from a literal needs its kernel; write var name(t, literal)
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val<f32> zero = 0;
#ifdef KAIO_FIXED
  var sum(t, zero);
#else
  var sum = zero;
#endif
  sum += x[t.global_id()];
  y[t.global_id()] = sum;
});
static_assert(k.ptx().size() > 0);
