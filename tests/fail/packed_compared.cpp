// A comparison of pairs has two answers.
// EXPECT: kaio: a comparison of packed pairs; compare low(a) with low(b), high(a) with high(b)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<f16x2> x) {
  val i = t.global_id();
  val a = x[i];
#ifdef KAIO_FIXED
  if (auto g = t.when(low(a) < high(a))) x[i] = swap_halves(a);
#else
  if (auto g = t.when(a < x[0])) x[i] = swap_halves(a);
#endif
});
static_assert(k.ptx().size() > 0);
