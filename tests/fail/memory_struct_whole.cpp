// A struct is written member by member.
// EXPECT: kaio: a struct in memory is written member by member
#include <kaio/dsl/dsl.hpp>
using namespace kaio;
struct body {
  f32 mass;
  f32 history[4];
};

inline constexpr auto k = kernel<"k", 128>([](thread t, out<body> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i][&body::mass] = 1.0f;
#else
  y[i] = 1.0f;
#endif
});
static_assert(k.ptx().size() > 0);
