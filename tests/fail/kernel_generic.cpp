// A launch is checked by the types of the parameters.
// EXPECT: kaio: a kernel spells the types of its parameters; it cannot take auto
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr auto k = kernel<"k", 32>([](thread, out<f32> y) { y[0] = 1.0f; });
static_assert(k.ptx().size() > 0);
#else
constexpr auto k = kernel<"k", 32>([](thread, auto y) { y[0] = 1.0f; });
#endif
