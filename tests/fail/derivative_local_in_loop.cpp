// A local array may keep a value of an earlier round that depends on the variable, which is the same in all rounds.
// EXPECT: kaio: derivative of an element of a local array
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  local<f32, 1> power(t);
  power[0u] = 1.0f;
  val s = x[i];
  for (auto j : t.range(0u, n)) {
#ifdef KAIO_FIXED
    val z = x[j] * s;
#else
    val z = power[0u] * s;  // HERE
#endif
    y[j] = derivative(z, s);
    power[0u] = z;
  }
});
static_assert(k.ptx().size() > 0);
