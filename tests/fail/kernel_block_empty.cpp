// A block has a thread.
// EXPECT: kaio: a block has 1 to 1024 threads
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr auto k = kernel<"k", 1>([](thread, out<f32> y) { y[0] = 1.0f; });
#else
constexpr auto k = kernel<"k", 0>([](thread, out<f32> y) { y[0] = 1.0f; });
#endif
