// The size of a shared array is known while the kernel is compiled.
// EXPECT: kaio: a shared array has a size that the compiler knows; write dynamic_shared<T> name(t)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  dynamic_shared<f32> s(t);
  s[0] = x[i];
  y[i] = s[0];
#else
  shared_array<f32> s(t, n);
  s[0] = x[i];
  y[i] = s[0];
#endif
});
static_assert(k.ptx().size() > 0);
