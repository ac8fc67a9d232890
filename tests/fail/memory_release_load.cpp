// A load cannot release.
// EXPECT: kaio: a load is relaxed or acquire; release is for stores
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = load(y[i], order::acquire, scope::device) + 1;
#else
  y[i] = load(y[i], order::release, scope::device) + 1;
#endif
});
static_assert(k.ptx().size() > 0);
