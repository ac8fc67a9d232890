// Static shared memory ends at 48 KB.
// EXPECT: kaio: the shared arrays of this kernel take more than 49152 bytes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  shared<f32, 64, 96> a(t);
  shared<f32, 64, 96> b(t);
  a[i][i] = x[i];
  b[i][i] = x[i];
  y[i] = a[i][i];
#else
  shared<f32, 64, 128> a(t);
  shared<f32, 64, 128> b(t);
  a[i][i] = x[i];
  b[i][i] = x[i];
  y[i] = a[i][i];
#endif
});
static_assert(k.ptx().size() > 0);
