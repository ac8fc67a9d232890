// The needs of a kernel are computed from its instructions, and can be queried while compiling.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto empty = kernel<"empty", 64>([](thread) {});
static_assert(empty.needs().instructions == 1);
static_assert(empty.needs().target == ptx::target{70, false});
static_assert(empty.needs().version == ptx::isa_version{6, 0});
static_assert(empty.needs().shared_bytes == 0);
static_assert(empty.needs().max_threads == 64);
static_assert(empty.ptx().contains(".version 6.0"));
static_assert(empty.ptx().contains(".target sm_70"));
static_assert(empty.ptx().contains(".visible .entry empty()"));
static_assert(empty.ptx().contains(".reqntid 64, 1, 1"));

// A claimed target raises the version to the first that knows it.
inline constexpr auto hopper =
    kernel<"hopper", block_size{32, 4, 2}, kernel_options{.target = {90, true}}>([](thread) {});
static_assert(hopper.needs().target == ptx::target{90, true});
static_assert(hopper.needs().version == ptx::isa_version{8, 0});
static_assert(hopper.ptx().contains(".target sm_90a"));
static_assert(hopper.ptx().contains(".reqntid 32, 4, 2"));
static_assert(hopper.needs().max_threads == 256);

// Shared arrays are summed with the padding of their alignment: 16 where a vector fits in.
inline constexpr auto sharing = kernel<"sharing", 32>([](thread t, out<f64> y) {
  shared<bool, 3> flags(t);
  shared<f64, 2> numbers(t);
  flags[0] = t.lane_rank() == 0;
  numbers[0] = 1.0;
  y[0] = numbers[0];
});
static_assert(sharing.needs().shared_bytes == 16 + 16);
static_assert(sharing.ptx().contains(".shared .align 16 .b8 shared_1[16];"));

// The type-erased interface agrees.
static_assert(sharing.image().name == "sharing");
static_assert(sharing.image().parameter_count == 1);
static_assert(sharing.image().parameters[0].access == ptx::access::out);
static_assert(sharing.image().parameters[0].type == ptx::type::f64);
static_assert(sharing.image().block == ptx::dim3{32, 1, 1});
