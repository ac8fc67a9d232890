// A struct holds no pointers of the host.
// EXPECT: kaio: a struct in a kernel is made of numbers, vectors, arrays and structs of them
#include <kaio/dsl/dsl.hpp>
using namespace kaio;
struct holder {
  f32 x;
#ifndef KAIO_FIXED
  const f32* more;
#endif
};
inline constexpr auto k =
    kernel<"k", 128>([](thread t, val<holder> p, out<f32> y) { y[t.global_id()] = p[&holder::x]; });  // HERE
static_assert(k.ptx().size() > 0);
