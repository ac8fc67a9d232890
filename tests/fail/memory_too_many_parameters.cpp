// All parameters together have 4096 bytes.
// EXPECT: kaio: the parameters of a kernel take more than 4096 bytes together
#include <kaio/dsl/dsl.hpp>
using namespace kaio;
struct half {
  f32 data[512];
};

#ifdef KAIO_FIXED
inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y, val<half> a) {
#else
inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y, val<half> a, val<half>) {
#endif
  y[t.global_id()] = a[&half::data][1];
});
static_assert(k.ptx().size() > 0);  // HERE
