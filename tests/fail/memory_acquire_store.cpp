// A store cannot acquire.
// EXPECT: kaio: a store is relaxed or release; acquire is for loads
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  store(y[i], 1u, order::release, scope::device);
#else
  store(y[i], 1u, order::acquire, scope::device);
#endif
});
static_assert(k.ptx().size() > 0);
