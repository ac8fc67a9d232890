// A string is no parameter.
// EXPECT: kaio: the parameters of a kernel are
#include <kaio/dsl/dsl.hpp>

#include <string>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr auto k = kernel<"k", 32>([](thread, out<u8> y, in<u8> text) { y[0] = text[0]; });
#else
constexpr auto k = kernel<"k", 32>([](thread, out<u8> y, std::string text) { y[0] = text[0]; });
#endif
