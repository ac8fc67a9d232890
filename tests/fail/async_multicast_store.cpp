// Global memory is one.
// EXPECT: kaio: multicast is for copies to shared memory
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      shared_tile<f16, 8, 64, swizzled<128>> tile(t);
#ifdef KAIO_FIXED
      store_tensor(map, coordinates(0, 0), tile);
#else
      store_tensor(map, coordinates(0, 0), tile, multicast(3));
#endif
    });
static_assert(k.ptx().size() > 0);
