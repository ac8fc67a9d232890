// A var starts from a value of its kernel.
// EXPECT: kaio: a var starts from a value; write var<f32> x(t, 0.0f) with the thread
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var<f32> v(t, 0.0f);
  v = x[i];
  y[i] = v;
#else
  var<f32> v;
  v = x[i];
  y[i] = v;
#endif
});
static_assert(k.ptx().size() > 0);
