// An array in a struct is written element by element.
// EXPECT: kaio: an array in a struct is not assigned as a whole; write a[&S::member][k] = value in a loop of the host
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

struct row {
  f32 values[4];
};

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<row> x) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (u32 k = 0; k < 4; ++k) x[i][&row::values][k] = x[i + 1][&row::values][k];
#else
  x[i][&row::values] = x[i + 1][&row::values];
#endif
});
static_assert(k.ptx().size() > 0);
