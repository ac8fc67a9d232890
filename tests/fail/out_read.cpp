// An out parameter is write-only.
// EXPECT: kaio: an out parameter cannot be read; make it inout<T>
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = 1.0f;
#else
  y[i] += 1.0f;
#endif
});
static_assert(k.ptx().size() > 0);
