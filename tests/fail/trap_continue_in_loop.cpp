// continue in a guard of a loop would skip for all threads.
// EXPECT: kaio: a body of when() or otherwise() was left by return
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto q : t.range(0u, n)) {
    q.continue_if(x[q] < 0.0f);
    y[q] = x[q];
  }
#else
  for (auto q : t.range(0u, n)) {
    if (auto skip = t.when(x[q] < 0.0f)) continue;  // HERE
    y[q] = x[q];
  }
#endif
});
static_assert(k.ptx().size() > 0);
