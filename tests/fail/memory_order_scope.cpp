// An order holds among the threads of a scope.
// EXPECT: kaio: an order and a scope go together
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = load(y[i], order::acquire, scope::block) + 1;
#else
  y[i] = load(y[i], order::acquire) + 1;
#endif
});
static_assert(k.ptx().size() > 0);
