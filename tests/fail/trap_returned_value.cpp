// A device function that returns from a guarded body gives one value for all threads.
// EXPECT: kaio: a value was used outside the guarded body or loop that made it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  const auto relu = [&](val<f32> v) -> val<f32> { return select(v < 0.0f, 0.0f, v); };
  if (auto g = t.when(i < n)) y[i] = relu(x[i]);
#else
  const auto relu = [&](val<f32> v) -> val<f32> {
    val zero = v * 0.0f;
    if (auto g = t.when(v < 0.0f)) return zero;
    return v;
  };
  if (auto g = t.when(i < n)) y[i] = relu(x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
