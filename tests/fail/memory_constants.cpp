// The tables of a kernel have 8 KB together.
// EXPECT: kaio: the constant tables and texts of this kernel take more than 8 KB
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  constant table(t, std::array<f32, 2048>{});
  y[i] = table[i];
#else
  constant table(t, std::array<f32, 2049>{});
  y[i] = table[i];
#endif
});
static_assert(k.ptx().size() > 0);
