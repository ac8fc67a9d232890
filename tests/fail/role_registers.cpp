// Registers are given in eights.
// EXPECT: kaio: the registers of a thread are a multiple of 8 from 24 to 256
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 256, kernel_options{.target = {90, true}, .cluster = {2, 1, 1}}>(
    []([[maybe_unused]] thread t, [[maybe_unused]] tensor_map<f16, 2> map, [[maybe_unused]] inout<f32> y,
       [[maybe_unused]] val<u32> n) {
#ifdef KAIO_FIXED
      increase_registers<104>(t);
#else
      increase_registers<100>(t);
#endif
    });
static_assert(k.ptx().size() > 0);
