// The operands of index() have one sign.
// EXPECT: kaio: the operands of index() are all signed or all unsigned; write cast<u32>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y, val<i32> pitch, val<u32> column) {
#ifdef KAIO_FIXED
  y[index(t.global_id(), cast<u32>(pitch), column)] = 1.0f;
#else
  y[index(t.global_id(), pitch, column)] = 1.0f;
#endif
});
static_assert(k.ptx().size() > 0);
