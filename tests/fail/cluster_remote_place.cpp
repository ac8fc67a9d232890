// Other blocks share their shared memory.
// EXPECT: kaio: remote() takes a cell of a shared array or tile
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
      shared<f32, 256> cells(t);
#ifdef KAIO_FIXED
      remote(cells[0], 1) = 1.0f;
#else
      remote(y[0], 1) = 1.0f;
#endif
    });
static_assert(k.ptx().size() > 0);
