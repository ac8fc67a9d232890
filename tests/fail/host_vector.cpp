// A std::vector is of the host.
// EXPECT: kaio:
#include <kaio/dsl/dsl.hpp>

#include <vector>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  local<f32, 2> v(t);
  v[0] = 1.0f;
  y[i] = x[i] * v[i & 0];
#else
  std::vector<float> v(2, 1.0f);
  y[i] = x[i] * v[i];  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
