// No more bytes are valid than are copied.
// EXPECT: kaio: the valid bytes of a cp_async are 0 to its size
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      shared<f32, 256> cells(t);
#ifdef KAIO_FIXED
      cp_async<4>(cells[0], y[0], 4);
#else
      cp_async<4>(cells[0], y[0], 8);
#endif
    });
static_assert(k.ptx().size() > 0);
