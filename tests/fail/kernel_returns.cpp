// A kernel returns nothing.
// EXPECT: kaio: a kernel returns nothing; write results to an out<T>
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr auto k = kernel<"k", 32>([](thread, in<f32> x, out<f32> y) { y[0] = x[0]; });
static_assert(k.ptx().size() > 0);
#else
constexpr auto k = kernel<"k", 32>([](thread, in<f32> x) { return val(x[0]); });
#endif
