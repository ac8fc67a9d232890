// A var of a struct needs its kernel.
// EXPECT: kaio: a var of a struct needs its kernel; write var name(t, S{...})
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

struct complex {
  f32 re, im;
};

inline constexpr auto k = kernel<"k", 128>([](thread t, out<complex> y) {
#ifdef KAIO_FIXED
  var sum(t, complex{0, 1});
#else
  var<complex> sum = complex{0, 1};
#endif
  sum[&complex::re] += 1.0f;
  y[t.global_id()] = sum;
});
static_assert(k.ptx().size() > 0);
