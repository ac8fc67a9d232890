// An expression that knows no kernel has a type too.
// EXPECT: kaio: the value stored has another type than its place; write cast<T>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
#ifdef KAIO_FIXED
  y[t.global_id()] = cast<f32>(thread_idx_x());
#else
  y[t.global_id()] = thread_idx_x();
#endif
});
static_assert(k.ptx().size() > 0);
