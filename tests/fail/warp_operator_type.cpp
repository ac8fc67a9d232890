// The operator of a reduction returns the type of its operands.
// EXPECT: kaio: the operator of a reduction or a scan returns the type of its operands
// LATE(g++): what follows the failed requirement is evaluated too
// LATE(clang): what follows the failed requirement is evaluated too
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = block_reduce(t, x[i], [](const auto& a, const auto& b) { return select(a < b, b, a); });
#else
  y[i] = block_reduce(t, x[i], [](const auto& a, const auto& b) { return a < b; });
#endif
});
static_assert(k.ptx().size() > 0);
