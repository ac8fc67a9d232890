// A fraction of the cache lines.
// EXPECT: kaio: the fraction of an L2 policy must be in (0, 1]
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
#ifdef KAIO_FIXED
      prefetch_bulk(y[0], 16, cache_hint(l2_fraction(t, l2_priority::evict_first, 0.5f)));
#else
      prefetch_bulk(y[0], 16, cache_hint(l2_fraction(t, l2_priority::evict_first, 2.0f)));
#endif
    });
static_assert(k.ptx().size() > 0);
