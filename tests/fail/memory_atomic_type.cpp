// Operands have the type of the cell.
// EXPECT: kaio: the operand of an atomic operation has another type than its cell
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> x, in<i32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  atomic_add(x[0], cast<u32>(y[i]));
#else
  atomic_add(x[0], y[i]);
#endif
});
static_assert(k.ptx().size() > 0);
