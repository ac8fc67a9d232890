// A literal that a val is made of fits its type.
// EXPECT: kaio: a literal does not fit the type that it is given
// LATE(clang): a val of a literal knows no kernel that could keep the fault
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<u8> x, inout<u8> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val<u8> a = 30;
#else
  val<u8> a = 300;  // HERE
#endif
  y[i] = x[i] + a;
});
static_assert(k.ptx().size() > 0);
