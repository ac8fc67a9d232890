// A floating cell has no % and no shifts.
// EXPECT: kaio: %=, <<= and >>= on a cell that is no integer; write y[i] = fmod(y[i], b) for floats
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = fmod(y[i], 2.0f);
#else
  y[i] %= 2.0f;
#endif
});
static_assert(k.ptx().size() > 0);
