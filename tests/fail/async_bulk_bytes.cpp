// Bulk copies move pieces of 16 bytes.
// EXPECT: kaio: a bulk copy moves a multiple of 16 bytes, and at least 16
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      shared<f32, 256> cells(t);
#ifdef KAIO_FIXED
      store_bulk(y[0], cells[0], 32);
#else
      store_bulk(y[0], cells[0], 20);
#endif
    });
static_assert(k.ptx().size() > 0);
