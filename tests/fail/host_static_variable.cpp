// A static variable is of the host.
// EXPECT(g++): calls
// EXPECT(clang): operator()
// LATE: the compilers say first, or alone, that the lambda is not constexpr, with its line
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  constexpr int calls = 0;
  y[i] = x[i] + calls;
#else
  static int calls = 0;  // HERE
  y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
