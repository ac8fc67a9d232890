// A kernel that nothing launches compiles whatever it does, until it is checked.
// EXPECT: kaio: the step of a range() is 0
#include <kaio/kaio.hpp>
using namespace kaio;
inline constexpr auto add_all = kernel<"add_all", 256>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  for (auto k : t.range(t.global_id(), n, 0u)) y[k] += x[k];  // HERE
});
#ifdef KAIO_FIXED
static_assert(add_all.block().x == 256);
#else
static_assert(check_kernels(add_all));
#endif
