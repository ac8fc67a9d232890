// A compound assignment has the type of its variable.
// EXPECT: kaio: the value stored has another type than its place; write cast<T>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var sum = x[i];
  sum += cast<f32>(n);
  y[i] = sum;
#else
  var sum = x[i];
  sum += n;
  y[i] = sum;
#endif
});
static_assert(k.ptx().size() > 0);
