#pragma once
// Scans over a block of any size and shape. Each thread gets the reduction of the threads of lower rank, in their
// order, with its own value (inclusive) or without it (exclusive). The operator is any associative one, and need not
// commute; it takes a device value or an aggregate of vals.
//
//   val place = block_exclusive_scan(t, cast<u32>(keep), plus{}, 0u);
//   if (auto kept = t.when(keep)) y[place] = x;

#include <kaio/dsl/block/exchange.hpp>
#include <kaio/dsl/warp/scan.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// The reduction of all warps before this one; unspecified in the first.
template <exchangeable S, class Op>
constexpr values_of<S> before_warp(const thread& t, const warp_lanes& lanes, const Op& op,
                                   const values_of<S>& scanned) {
  using enum ptx::type;
  tracer& trace = t.trace();
  const block_warps warps = warps_of(t);
  const std::uint32_t count = warps.count - 1;  // warps that precede another
  const bool in_every_warp = every_warp_has(t, count);
  exchange<S> slots(trace, in_every_warp ? warps.count : 2 * warps.count, scanned);
  const value is_last_lane = trace.compare(operation::eq, u32, warps.lane, trace.constant(u32, 31));
  slots.store(warps.warp, scanned, is_last_lane);
  trace.barrier();
  const value own_slot = trace.binary(operation::min, u32, warps.lane, trace.constant(u32, count - 1));
  const value one = trace.constant(u32, 1);
  warp_lanes of_slots = lanes;
  of_slots.known = count;
  values_of<S> before;
  if (count == 1) {
    before = slots.load(trace.constant(u32, 0));
  } else if (in_every_warp) {
    before = scan_lanes<S>(trace, of_slots, 32, op, slots.load(own_slot));
    const value warp_below = trace.binary(operation::sub, u32, warps.warp, one);
    before = shuffle(trace, source_of(trace, modifier::idx, warp_below, 32, lanes.members), before);
  } else {
    {
      const value zero = trace.constant(u32, 0);
      const guard first_warp(trace, trace.compare(operation::eq, u32, warps.warp, zero));
      const values_of<S> sums = scan_lanes<S>(trace, of_slots, 32, op, slots.load(own_slot));
      const value to = trace.binary(operation::add, u32, warps.lane, trace.constant(u32, warps.count));
      const value has_slot = trace.compare(operation::lt, u32, warps.lane, trace.constant(u32, count));
      slots.store(to, sums, has_slot);
    }
    trace.barrier();
    const value later_warp = trace.binary(operation::max, u32, warps.warp, one);
    before = slots.load(trace.binary(operation::add, u32, later_warp, trace.constant(u32, warps.count - 1)));
  }
  slots.finish();
  return before;
}

constexpr value is_later_warp(const thread& t) {
  tracer& trace = t.trace();
  const value warp = lower(trace, t.warp_rank().node());
  return trace.compare(operation::ne, ptx::type::u32, warp, trace.constant(ptx::type::u32, 0));
}

template <exchangeable S, class Op>
constexpr values_of<S> inclusive_in_block(const thread& t, const Op& op, const values_of<S>& x) {
  tracer& trace = t.trace();
  const warp_lanes lanes = lanes_of(t);
  const values_of<S> scanned = scan_lanes<S>(trace, lanes, 32, op, x);
  if (t.block_size() <= 32) return scanned;
  const values_of<S> before = before_warp<S>(t, lanes, op, scanned);
  const values_of<S> whole = combine<S>(trace, op, before, scanned);
  return select(trace, is_later_warp(t), whole, scanned);
}

template <exchangeable S, class Op, class I>
constexpr values_of<S> exclusive_in_block(const thread& t, const Op& op, const values_of<S>& x,
                                          const I& initial) {
  tracer& trace = t.trace();
  values_of<S> start = initial_of<S>(trace, initial);
  const warp_lanes lanes = lanes_of(t);
  const values_of<S> scanned = scan_lanes<S>(trace, lanes, 32, op, x);
  if (t.block_size() > 32) {
    const values_of<S> before = before_warp<S>(t, lanes, op, scanned);
    const values_of<S> later = combine<S>(trace, op, start, before);
    start = select(trace, is_later_warp(t), later, start);
  }
  return exclude<S>(trace, lanes, 32, op, start, scanned);
}

}  // namespace detail

// The reduction of x over the threads of the block up to this one. All threads of the block must reach the call; in a
// block of more than 32 threads it is a barrier.
template <exchangeable S, class Op>
constexpr auto block_inclusive_scan(const thread& t, const S& x, const Op& op,
                                    std::uint32_t line = __builtin_LINE(),
                                    const char* file = __builtin_FILE()) {
  using result = detail::exchanged<S>;
  return detail::emit<result>(
      t.trace(), line, file,
      [&](tracer& trace) { return detail::inclusive_in_block<result>(t, op, detail::flatten(trace, x)); }, x);
}

// The reduction of x over the threads of lower rank, from `initial` on: op(initial, their values). The first thread
// gets `initial` itself.
template <exchangeable S, class Op, class I>
constexpr auto block_exclusive_scan(const thread& t, const S& x, const Op& op, const I& initial,
                                    std::uint32_t line = __builtin_LINE(),
                                    const char* file = __builtin_FILE()) {
  using result = detail::exchanged<S>;
  return detail::emit<result>(
      t.trace(), line, file,
      [&](tracer& trace) {
        return detail::exclusive_in_block<result>(t, op, detail::flatten(trace, x), initial);
      },
      x, initial);
}

}  // namespace kaio::dsl
