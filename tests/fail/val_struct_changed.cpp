// A val of a struct never changes, nor do its members.
// EXPECT: kaio: a val never changes; declare a var to assign to
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

struct complex {
  f32 re, im;
};

inline constexpr auto k = kernel<"k", 128>([](thread t, in<complex> x, out<complex> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var a = x[i];
#else
  val a = x[i];
#endif
  a[&complex::re] = 0.0f;  // HERE
  y[i] = a;
});
static_assert(k.ptx().size() > 0);
