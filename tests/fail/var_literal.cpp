// A literal alone does not determine which kernel a var belongs to.
// EXPECT: kaio: a var that starts from a literal needs its kernel
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var sum(t, 0.0f);
  sum += x[i];
  y[i] = sum;
#else
  var sum = 0.0f;
  sum += x[i];
  y[i] = sum;
#endif
});
static_assert(k.ptx().size() > 0);
