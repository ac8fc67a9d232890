// make_struct takes a value of its type for each member.
// EXPECT: kaio: a member of the struct has another type than its value; write cast<T>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

struct pair {
  f32 value;
  u32 count;
};

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<pair> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = make_struct<pair>(x[i], 1);
#else
  y[i] = make_struct<pair>(i, 1);
#endif
});
static_assert(k.ptx().size() > 0);
