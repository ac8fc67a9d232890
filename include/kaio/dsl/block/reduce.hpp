#pragma once
// Reductions of a device value or an aggregate of vals over a block of any size and shape, by any associative operator.
// It need not commute: values are combined in the order of the threads' ranks, in a fixed tree. Floats therefore give
// the same bits in every run. The operator decides what a NaN does.
//
//   val largest = block_reduce(t, x, maximum{});
//   val total = block_reduce(t, x, [](auto a, auto b) { return a + b; });

#include <kaio/dsl/block/exchange.hpp>
#include <kaio/dsl/warp/reduce.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

constexpr std::uint32_t power_of_two_from(std::uint32_t n) {
  std::uint32_t p = 1;
  while (p < n) p *= 2;
  return p;
}

// Reduces the slots of all warps in each warp that runs it.
template <exchangeable S, class Op>
constexpr values_of<S> reduce_slots(const thread& t, exchange<S>& slots, const block_warps& warps,
                                    const Op& op, receiver to) {
  using enum ptx::type;
  tracer& trace = t.trace();
  warp_lanes lanes = lanes_of(t);
  const std::uint32_t count = warps.count;
  const bool all_full = lanes.rest == 0;
  // Lanes without a slot of their own read another lane's. If redux would count it twice, zero replaces it.
  const bool wraps = is_power_of_two(count) && all_full;
  const value slot = count == 32 ? warps.lane
                     : wraps ? trace.binary(operation::and_, u32, warps.lane, trace.constant(u32, count - 1))
                             : trace.binary(operation::min, u32, warps.lane, trace.constant(u32, count - 1));
  values_of<S> x = slots.load(slot);
  constexpr bool counts_twice = redux_operation<Op> == modifier::add || redux_operation<Op> == modifier::xor_;
  if constexpr (redux_reduces<S, Op> && counts_twice) {
    if (trace.target.sm >= 80 && count < 32) {
      const value has_slot = trace.compare(operation::lt, u32, warps.lane, trace.constant(u32, count));
      x = select(trace, has_slot, x, {{trace.constant(trace.type_of(x.ids[0]), 0)}});
    }
  }
  lanes.rest = count % 32;
  lanes.known = count;
  lanes.count = trace.constant(u32, count);
  return reduce_lanes<S>(t, lanes, wraps ? count : 32, op, x, to);
}

template <exchangeable S, class Op>
constexpr values_of<S> reduce_block(const thread& t, const Op& op, values_of<S> x, receiver to) {
  using enum ptx::type;
  tracer& trace = t.trace();
  const warp_lanes lanes = lanes_of(t);
  if (t.block_size() <= 32) return reduce_lanes<S>(t, lanes, 32, op, x, to);
  x = reduce_lanes<S>(t, lanes, 32, op, x, receiver::first);
  const block_warps warps = warps_of(t);
  const value zero = trace.constant(u32, 0);
  const value is_first_lane = trace.compare(operation::eq, u32, warps.lane, zero);
  const bool in_every_warp = to == receiver::all && every_warp_has(t, warps.count);
  exchange<S> slots(trace, in_every_warp ? warps.count : warps.count + 1, x);
  slots.store(warps.warp, x, is_first_lane);
  trace.barrier();
  if (in_every_warp) {
    x = reduce_slots<S>(t, slots, warps, op, receiver::all);
    slots.finish();
    return x;
  }
  // The first warp reduces. If all threads wait for the result, it comes back through a slot of its own.
  const value is_first_warp = trace.compare(operation::eq, u32, warps.warp, zero);
  const value result = trace.constant(u32, warps.count);
  if (to == receiver::all) {
    {
      const guard first_warp(trace, is_first_warp);
      slots.store(result, reduce_slots<S>(t, slots, warps, op, receiver::first), is_first_lane);
    }
    trace.barrier();
    x = slots.load(result);
    slots.finish();
    return x;
  }
  changing<composition<S>::leaves> reduced(trace, x);
  {
    const guard first_warp(trace, is_first_warp);
    reduced = reduce_slots<S>(t, slots, warps, op, receiver::first);
  }
  slots.finish();
  return reduced.get();
}

template <exchangeable S, class Op>
constexpr exchanged<S> block_reduce(const thread& t, const S& x, const Op& op, receiver to,
                                    std::uint32_t line, const char* file) {
  return emit<exchanged<S>>(
      t.trace(), line, file,
      [&](tracer& trace) { return reduce_block<exchanged<S>>(t, op, flatten(trace, x), to); }, x);
}

}  // namespace detail

// The reduction of x over all threads of the block, in each of them. All threads must reach the call. In a block of
// more than 32 threads it is a barrier. It then costs one bar.sync, and one more in a loop. If the last warp has fewer
// lanes than the block has warps, it costs a further one.
template <exchangeable S, class Op>
constexpr auto block_reduce(const thread& t, const S& x, const Op& op, std::uint32_t line = __builtin_LINE(),
                            const char* file = __builtin_FILE()) {
  return detail::block_reduce(t, x, op, detail::receiver::all, line, file);
}

// As block_reduce(), but only the thread of rank 0 has the result; the others get an unspecified value. The other
// warps do less work.
template <exchangeable S, class Op>
constexpr auto block_reduce_to_first(const thread& t, const S& x, const Op& op,
                                     std::uint32_t line = __builtin_LINE(),
                                     const char* file = __builtin_FILE()) {
  return detail::block_reduce(t, x, op, detail::receiver::first, line, file);
}

template <class First, class... Rest>
constexpr auto block_reduce(const First&, const Rest&...) {
  static_assert(never<First>,
                "kaio: block_reduce takes the thread, a value and an operator: block_reduce(t, x, plus{})");
}

}  // namespace kaio::dsl
