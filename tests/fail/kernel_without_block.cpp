// A kernel knows the size of its blocks.
// EXPECT: kaio: a kernel needs the number of threads of its blocks: kernel<"name", 128>(...)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) { y[t.global_id()] = 1.0f; });
#else
inline constexpr auto k = kernel<"k">([](thread t, out<f32> y) { y[t.global_id()] = 1.0f; });
#endif
