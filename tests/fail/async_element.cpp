// A tile has the element type of its map.
// EXPECT: kaio: the tile and the tensor map have different element types
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      mbarriers<2> bars(t);
#ifdef KAIO_FIXED
      shared_tile<f16, 8, 64, swizzled<128>> tile(t);
      copy_tensor(tile, map, coordinates(0, 0), bars[0]);
#else
      shared_tile<bf16, 8, 64, swizzled<128>> tile(t);
      copy_tensor(tile, map, coordinates(0, 0), bars[0]);
#endif
    });
static_assert(k.ptx().size() > 0);
