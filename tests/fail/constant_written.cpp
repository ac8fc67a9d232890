// A table of constants does not change.
// EXPECT: kaio: a constant table cannot be written; keep a local<T, N>
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  local<f32, 2> c(t);
  c[i % 2] = x[i];
  y[i] = c[i % 2];
#else
  constant<f32, 2> c(t, {1, 2});
  c[i % 2] = x[i];
  y[i] = c[i % 2];
#endif
});
static_assert(k.ptx().size() > 0);
