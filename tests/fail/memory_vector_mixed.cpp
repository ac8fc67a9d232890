// The elements of a vector have one type.
// EXPECT: kaio: the elements of make_vec have different types
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32x2> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = make_vec(x[i], cast<f32>(i));
#else
  y[i] = make_vec(x[i], i);
#endif
});
static_assert(k.ptx().size() > 0);
