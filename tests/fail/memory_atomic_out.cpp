// An atomic operation reads its cell.
// EXPECT: kaio: an atomic operation reads and writes its cell; make the parameter inout<T>
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> x, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = atomic_add(x[0], 1u);
#else
  x[i] = atomic_add(y[0], 1u);
#endif
});
static_assert(k.ptx().size() > 0);
