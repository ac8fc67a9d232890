// Members have types of the device.
// EXPECT: kaio: this member of a struct is no number of the language
#include <kaio/dsl/dsl.hpp>
using namespace kaio;
enum class colour : unsigned char { red };
struct holder {
  f32 x;
  colour c;
};
inline constexpr auto k = kernel<"k", 128>([](thread t, val<holder> p, out<f32> y) {
#ifdef KAIO_FIXED
  y[t.global_id()] = p[&holder::x];
#else
  y[t.global_id()] = p[&holder::c];
#endif
});
static_assert(k.ptx().size() > 0);
