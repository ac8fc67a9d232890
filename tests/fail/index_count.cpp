// Each dimension after the first has a size and an index.
// EXPECT: kaio: index() takes an index, and a size and an index for each further dimension
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y, val<u32> pitch, val<u32> column) {
#ifdef KAIO_FIXED
  y[index(t.global_id(), pitch, column)] = 1.0f;
#else
  y[index(t.global_id(), pitch, column, pitch)] = 1.0f;
#endif
});
static_assert(k.ptx().size() > 0);
