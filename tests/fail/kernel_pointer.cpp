// The type of a pointer states how it is used.
// EXPECT: kaio: the parameters of a kernel are
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr auto k = kernel<"k", 32>([](thread, out<f32> y, in<f32> x) { y[0] = x[0]; });
#else
constexpr auto k = kernel<"k", 32>([](thread, out<f32> y, const f32* x) { y[0] = x[0]; });
#endif
