// A cache hint is a policy.
// EXPECT: kaio: a cache hint is a policy: l2_evict_first(t)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
#ifdef KAIO_FIXED
      prefetch_tensor(map, coordinates(0, 0), cache_hint(l2_evict_last(t)));
#else
      prefetch_tensor(map, coordinates(0, 0), cache_hint(n));
#endif
    });
static_assert(k.ptx().size() > 0);
