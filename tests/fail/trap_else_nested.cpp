// An else inside another guarded body is found too.
// EXPECT: kaio: a C++ else after when() or otherwise() is never run
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  if (auto g = t.when(i < n)) {
    if (auto h = t.when(x[i] > 0.0f)) {
      y[i] = x[i];
    }
    if (auto h = t.otherwise()) {
      y[i] = 0.0f;
    }
  }
#else
  if (auto g = t.when(i < n)) {
    if (auto h = t.when(x[i] > 0.0f)) {
      y[i] = x[i];
    } else {
      y[i] = 0.0f;
    }
  }
#endif
});
static_assert(k.ptx().size() > 0);
