// An in parameter is read-only.
// EXPECT: kaio: an in parameter cannot be written; make it out<T> or inout<T>
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = x[i];
#else
  x[i] = y[i];
#endif
});
static_assert(k.ptx().size() > 0);
