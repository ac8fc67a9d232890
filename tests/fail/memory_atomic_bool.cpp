// bool has no atomic operations.
// EXPECT: kaio: there are no atomic operations on bool; use u32
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<bool> x, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  atomic_or(y[0], cast<u32>(x[i]));
#else
  atomic_or(x[0], x[i] == true);
#endif
});
static_assert(k.ptx().size() > 0);
