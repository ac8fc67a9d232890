// An assigned value has the type of its variable.
// EXPECT: kaio: the value stored has another type than its place
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var count = i;
  count = cast<u32>(x[i]);
  y[count] = 0.0f;
#else
  var count = i;
  count = x[i];
  y[count] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
