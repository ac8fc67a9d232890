// Elements are numbers of the language, vectors and structs of them.
// EXPECT: kaio: the elements of a pointer parameter are numbers of the language
// LATE(g++): what follows the failed requirement is evaluated too
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr auto k = kernel<"k", 32>([](thread, out<i32> y) { y[0] = 1; });
static_assert(k.ptx().size() > 0);
#else
constexpr auto k = kernel<"k", 32>([](thread, out<long double> y) { y[0] = 1; });
#endif
