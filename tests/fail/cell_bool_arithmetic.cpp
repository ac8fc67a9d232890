// A cell of conditions has &=, |= and ^=, and no arithmetic.
// EXPECT: kaio: arithmetic on bool; write select(condition, a, b) or cast<T>(condition)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<bool> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] |= true;
#else
  y[i] += true;
#endif
});
static_assert(k.ptx().size() > 0);
