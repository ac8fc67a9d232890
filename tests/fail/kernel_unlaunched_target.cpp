// A target that kaio_check_kernels(target) prepares checks a kernel that nothing uses.
// EXPECT: kaio: the step of a range() is 0
#ifndef KAIO_FIXED
#define KAIO_CHECK_KERNELS
#endif
#include <kaio/kaio.hpp>
using namespace kaio;
inline constexpr auto add_all = kernel<"add_all", 256>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  for (auto k : t.range(t.global_id(), n, 0u)) y[k] += x[k];  // HERE
});
