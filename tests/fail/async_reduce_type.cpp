// Not every operation is there for every type.
// EXPECT: kaio: min and max of a reducing copy take 32 and 64-bit integers, f16 and bf16
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      shared<f32, 256> cells(t);
#ifdef KAIO_FIXED
      reduce_bulk<bulk_operation::add>(y[0], cells[0], 64);
#else
      reduce_bulk<bulk_operation::max>(y[0], cells[0], 64);
#endif
    });
static_assert(k.ptx().size() > 0);
