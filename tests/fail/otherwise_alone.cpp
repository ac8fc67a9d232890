// otherwise() belongs to the when() just before it.
// EXPECT: kaio: otherwise() must directly follow the body of a when()
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  if (auto g = t.when(i < n)) y[i] = x[i];
  if (auto g = t.otherwise()) y[i] = 0.0f;
  y[i + 1] = 0.0f;
#else
  if (auto g = t.when(i < n)) y[i] = x[i];
  y[i + 1] = 0.0f;
  if (auto g = t.otherwise()) y[i] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
