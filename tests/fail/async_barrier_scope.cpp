// Values computed in a guarded body end with it.
// EXPECT: kaio: an mbarrier was used outside the guarded body or loop that made its index
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      mbarriers<2> bars(t);
#ifdef KAIO_FIXED
      const auto bar = bars[n];
      bar.arrive();
#else
      const auto bar = [&] {
        auto g = t.when(n < 2);
        return bars[n];
      }();
      bar.arrive();
#endif
    });
static_assert(k.ptx().size() > 0);
