// Warps come whole.
// EXPECT: kaio: a named barrier is for whole warps: a multiple of 32 threads
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
#ifdef KAIO_FIXED
      named_barrier<1>(t, 96).sync();
#else
      named_barrier<1>(t, 100).sync();
#endif
    });
static_assert(k.ptx().size() > 0);
