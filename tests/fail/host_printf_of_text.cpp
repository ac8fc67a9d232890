// printf runs on the host, a kernel in the compiler.
// EXPECT: printf
#include <kaio/dsl/dsl.hpp>

#include <cstdio>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  device_print(t, "begin\n");
  y[i] = x[i];
#else
  std::printf("begin\n");  // HERE
  y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
