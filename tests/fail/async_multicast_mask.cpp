// A multicast reaches at least one block.
// EXPECT: kaio: a multicast mask has 16 bits, and one or more of them are set
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      mbarriers<2> bars(t);
      shared_tile<f16, 8, 64, swizzled<128>> tile(t);
#ifdef KAIO_FIXED
      copy_tensor(tile, map, coordinates(0, 0), bars[0], multicast(1));
#else
      copy_tensor(tile, map, coordinates(0, 0), bars[0], multicast(0));
#endif
    });
static_assert(k.ptx().size() > 0);
