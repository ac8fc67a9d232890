// Counts are u32.
// EXPECT: kaio: counts, bytes, parities, ranks and masks are integers of the host or values of u32
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      mbarriers<2> bars(t);
#ifdef KAIO_FIXED
      bars[0].init(n);
#else
      bars[0].init(cast<i32>(n));
#endif
    });
static_assert(k.ptx().size() > 0);
