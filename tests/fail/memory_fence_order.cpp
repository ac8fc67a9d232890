// A fence is acq_rel or sc.
// EXPECT: kaio: a fence is order::acq_rel or order::sc
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  fence(t, order::acq_rel, scope::device);
  y[i] = 1;
#else
  fence(t, order::acquire, scope::device);
  y[i] = 1;
#endif
});
static_assert(k.ptx().size() > 0);
