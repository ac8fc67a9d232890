// A phase counts a limited number of bytes.
// EXPECT: kaio: a phase of an mbarrier counts at most 1048575 bytes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      mbarriers<2> bars(t);
#ifdef KAIO_FIXED
      bars[0].arrive_expect_tx(1 << 19);
#else
      bars[0].arrive_expect_tx(1 << 20);
#endif
    });
static_assert(k.ptx().size() > 0);
