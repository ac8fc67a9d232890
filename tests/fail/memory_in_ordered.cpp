// Memory that never changes is read without an order.
// EXPECT: kaio: the memory of an in parameter does not change
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> w, in<u32> x, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = load(w[i], order::relaxed, scope::device) + x[i];
#else
  y[i] = load(x[i], order::relaxed, scope::device) + w[i];
#endif
});
static_assert(k.ptx().size() > 0);
