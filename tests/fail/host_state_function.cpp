// Two functions in one line, chosen by what a guarded body assigned.
// EXPECT: assigns a variable of the host that is used after it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  val f = cast<f32>(i);
  bool flag = false;
#ifdef KAIO_FIXED
  flag = true;
#else
  if (auto g = t.when(i < n)) flag = true;
#endif
  // clang-format off
  if (flag) y[i] = cast<u32>(sin(f)); else y[i] = cast<u32>(cos(f));
  // clang-format on
});
static_assert(k.ptx().size() > 0);
