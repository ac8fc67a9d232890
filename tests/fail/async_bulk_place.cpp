// Bulk copies reach shared memory.
// EXPECT: kaio: this is no place in shared memory
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      mbarriers<2> bars(t);
      shared<f32, 256> cells(t);
#ifdef KAIO_FIXED
      copy_bulk(cells[0], y[0], 16, bars[0]);
#else
      copy_bulk(cast<u64>(n), y[0], 16, bars[0]);
#endif
    });
static_assert(k.ptx().size() > 0);
