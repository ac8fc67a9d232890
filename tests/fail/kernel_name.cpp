// The name of a kernel is an entry of PTX.
// EXPECT: kaio: the name of a kernel is letters, digits and underscores
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr auto k = kernel<"my_kernel", 32>([](thread, out<f32> y) { y[0] = 1.0f; });
static_assert(k.ptx().size() > 0);
#else
constexpr auto k = kernel<"my kernel", 32>([](thread, out<f32> y) { y[0] = 1.0f; });
#endif
