// Coordinates are 32-bit integers.
// EXPECT: kaio: a coordinate is a value of u32 or i32, or an integer of the host
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      mbarriers<2> bars(t);
      shared_tile<f16, 8, 64, swizzled<128>> tile(t);
#ifdef KAIO_FIXED
      copy_tensor(tile, map, coordinates(n, 0), bars[0]);
#else
      copy_tensor(tile, map, coordinates(cast<u64>(n), 0), bars[0]);
#endif
    });
static_assert(k.ptx().size() > 0);
