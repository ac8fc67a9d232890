// A loop object runs once.
// EXPECT: kaio: a range() or loop() runs once; make another
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(0u, n)) y[k] = x[k];
  for (auto k : t.range(0u, n)) y[k] += 1.0f;
#else
  auto all = t.range(0u, n);
  for (auto k : all) y[k] = x[k];
  for (auto k : all) y[k] += 1.0f;
#endif
});
static_assert(k.ptx().size() > 0);
