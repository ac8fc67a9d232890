// Only device types are parameters.
// EXPECT: kaio: the parameters of a kernel are in<T>, out<T>, inout<T> and val<T>, by value
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr auto k = kernel<"k", 32>([](thread, out<f32> y, val<f32> a) { y[0] = a; });
static_assert(k.ptx().size() > 0);
#else
constexpr auto k = kernel<"k", 32>([](thread, out<f32> y, f32 a) { y[0] = a; });
#endif
