// Operations on integers take integers.
// EXPECT: kaio: this operation takes integers; write bit_cast<u32>(x) or cast<i32>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = popc(bit_cast<u32>(x[i]));
#else
  y[i] = popc(x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
