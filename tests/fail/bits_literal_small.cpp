// A literal fits the small integer of the other operand.
// EXPECT: kaio: a literal does not fit the integer type of the operand; write a value in range, or cast<T>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<i8> x) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  x[i] = x[i] + 127;
#else
  x[i] = x[i] + 128;
#endif
});
static_assert(k.ptx().size() > 0);
