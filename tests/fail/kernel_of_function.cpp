// A kernel is made of a lambda.
// EXPECT: kaio: a kernel is made of a lambda: [](thread t, in<f32> x) { body(t, x); }
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

constexpr void body(thread t, out<f32> y) { y[t.global_id()] = 1.0f; }

#ifdef KAIO_FIXED
inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) noexcept { body(t, y); });
#else
inline constexpr auto k = kernel<"k", 128>(body);
#endif
