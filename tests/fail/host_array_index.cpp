// An array of the host is not indexed by a device value.
// EXPECT(g++): operator[]
// EXPECT(clang): kaio: a device value has no value while the kernel is compiled
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  constant w(t, {1.0f, 2.0f});
  y[i] = x[i] * w[i & 1];
#else
  constexpr float w[] = {1.0f, 2.0f};
  y[i] = x[i] * w[i];  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
