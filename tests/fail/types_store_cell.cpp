// A compound store has the type of its place.
// EXPECT: kaio: the value stored has another type than its place; write cast<T>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] += cast<f32>(i);
#else
  y[i] += i;
#endif
});
static_assert(k.ptx().size() > 0);
