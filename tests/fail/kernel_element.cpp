// Elements are scalars of the language.
// EXPECT: kaio: the elements of a pointer parameter are f32, f64, i32, u32, i64, u64 or bool
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
constexpr auto k = kernel<"k", 32>([](thread, out<i32> y) { y[0] = 1; });
static_assert(k.ptx().size() > 0);
#else
constexpr auto k = kernel<"k", 32>([](thread, out<short> y) { y[0] = 1; });
#endif
