// A block has at most 1024 threads.
// EXPECT: kaio: a block has 1 to 1024 threads
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr auto k = kernel<"k", block_size{32, 32}>([](thread, out<f32> y) { y[0] = 1.0f; });
static_assert(k.ptx().size() > 0);
#else
constexpr auto k = kernel<"k", 2048>([](thread, out<f32> y) { y[0] = 1.0f; });
#endif
