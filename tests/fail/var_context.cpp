// A var belongs to a kernel.
// EXPECT: kaio: a var needs its kernel; write var name(t, value) with the thread
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var column(t, thread_idx_x());
  column += 1;
  y[column] = x[i];
#else
  var column = thread_idx_x();
  column += 1;
  y[column] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
