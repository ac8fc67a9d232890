// A named barrier has a number.
// EXPECT: kaio: a named barrier has a number: named_barrier<1> name(t, threads)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
#ifdef KAIO_FIXED
      named_barrier<1> some(t, 64);
      some.sync();
#else
      named_barrier some(t, 64);
      some.sync();
#endif
    });
static_assert(k.ptx().size() > 0);
