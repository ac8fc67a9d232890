// The function of lop3 is one of its arguments alone.
// EXPECT: kaio: the function of lop3 captures something; write its table: lop3<0xE8>(a, b, c)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> x) {
  val i = t.global_id();
  val a = x[i];
#ifdef KAIO_FIXED
  x[i] = lop3(a, i, 7u, [](auto p, auto q, auto r) { return p & (q ^ r); });
#else
  const u32 mask = 7;
  x[i] = lop3(a, i, 7u, [mask](auto p, auto q, auto r) { return p & (q ^ r) & mask; });
#endif
});
static_assert(k.ptx().size() > 0);
