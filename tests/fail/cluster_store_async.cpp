// An asynchronous store goes to another block.
// EXPECT: kaio: store_async stores to a remote cell: remote(tile[i], rank)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      mbarriers<2> bars(t);
      shared<f32, 256> cells(t);
#ifdef KAIO_FIXED
      store_async(remote(cells[0], 1), 1.0f, bars[0]);
#else
      store_async(cells[0], 1.0f, bars[0]);
#endif
    });
static_assert(k.ptx().size() > 0);
