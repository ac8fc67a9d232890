// Two statements of one line, chosen by what a guarded body assigned.
// EXPECT: assigns a variable of the host that is used after it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  bool flag = false;
#ifdef KAIO_FIXED
  flag = true;
#else
  if (auto g = t.when(i < n)) flag = true;
#endif
  // clang-format off
  if (flag) y[i] = 7u; else y[i] = 9u;
  // clang-format on
});
static_assert(k.ptx().size() > 0);
