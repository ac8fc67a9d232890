// A copy that bypasses L1 has 16 bytes.
// EXPECT: kaio: cp_async with cache::cg copies 16 bytes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      shared<f32, 256> cells(t);
#ifdef KAIO_FIXED
      cp_async<16>(cells[0], y[0], cache::cg);
#else
      cp_async<8>(cells[0], y[0], cache::cg);
#endif
    });
static_assert(k.ptx().size() > 0);
