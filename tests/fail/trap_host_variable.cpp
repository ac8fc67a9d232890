// A host variable belongs to the walk, not to the threads.
// EXPECT: or assigns a variable of the host
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var negative(t, 0.0f);
  if (auto g = t.when(x[i] < 0.0f)) negative = 1.0f;
  y[i] = negative;
#else
  bool negative = false;
  if (auto g = t.when(x[i] < 0.0f)) negative = true;
  if (negative)
    y[i] = 1.0f;
  else
    y[i] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
