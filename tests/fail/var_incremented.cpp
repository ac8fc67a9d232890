// A var is changed by += and -=.
// EXPECT: kaio: ++ and -- on a device value; write x += 1 or x -= 1
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<u32> x, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var c = x[i];
  c += 1;
  y[i] = c;
#else
  var c = x[i];
  c++;
  y[i] = c;
#endif
});
static_assert(k.ptx().size() > 0);
