// The threads of a grid are counted in 32 or 64 bits.
// EXPECT: kaio: the index of a thread is i32, u32, i64 or u64
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.grid_stride(n)) y[k] = 0.0f;
#else
  for (auto k : t.grid_stride(cast<u8>(n))) y[cast<u32>(k)] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
