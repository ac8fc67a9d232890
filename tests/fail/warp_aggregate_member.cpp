// An aggregate that travels between lanes consists of vals.
// EXPECT: kaio: a member of an aggregate is neither a val nor an aggregate of vals
// LATE(g++): what follows the failed requirement is evaluated too
// LATE(clang): what follows the failed requirement is evaluated too
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

struct entry {
  val<f32> score;
#ifdef KAIO_FIXED
  val<u32> place;
#else
  u32 place;
#endif
};

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, in<u32> z, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  const entry mine{x[i], z[i]};
#else
  const entry mine{x[i], 3};
#endif
  y[i] = shfl_xor(mine, 1).score;
});
static_assert(k.ptx().size() > 0);
