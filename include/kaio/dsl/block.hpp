#pragma once
// Reductions over the threads of a block, of any size and shape.
//
//   val largest = block_reduce(t, x, maximum{});
//   val total = block_reduce(t, x, [](auto a, auto b) { return a + b; });

#include <kaio/dsl/math.hpp>
#include <kaio/dsl/warp.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// Combines the results of the warps, which each lane of its warp holds, through shared memory.
template <class T, class Op>
constexpr void reduce_warps(const thread& t, var<T>& x, const Op& op, std::uint32_t warps) {
  const shared_array<T> partial(t, warps);
  const val lane = t.lane_rank();
  if (auto first = t.when(lane == 0)) partial[t.warp_rank()] = x;
  t.barrier();
  if (is_power_of_two(warps) && t.block_size() % 32 == 0) {
    x = partial[lane & (warps - 1)];
    for (std::uint32_t mask = warps / 2; mask != 0; mask /= 2) x = op(x, shfl_xor(x, mask));
  } else {
    x = partial[0];
    for (std::uint32_t warp = 1; warp < warps; ++warp) x = op(x, partial[warp].node());
  }
  // Each call has an array of its own, so only another round of a loop could overwrite it too early.
  if (t.trace().loop_depth() != 0) t.barrier();
}

}  // namespace detail

// The reduction of x over all threads of the block, in each of them. `op` must be associative and
// commutative; floats are combined in a fixed order, so the result is the same in every run. All threads of
// the block must reach the call.
template <device E, class Op>
constexpr val<element<E>> block_reduce(const thread& t, const E& x, const Op& op,
                                       std::uint32_t line = __builtin_LINE(),
                                       const char* file = __builtin_FILE()) {
  return detail::reduce(t, x, line, file, [&](auto& sum) {
    detail::reduce_warp(t, sum, op, t.block_size());
    const std::uint32_t warps = (t.block_size() + 31) / 32;
    if (warps > 1) detail::reduce_warps(t, sum, op, warps);
  });
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::block_reduce;
}
