#pragma once
// Reductions over the lanes of a warp, or over groups of them, of a device value or an aggregate of vals. The
// operator is associative and need not commute. Values are combined in the order of the lanes: neighbours
// first, then pairs of neighbours and so on. So floats give the same bits in every run. The operator decides
// what a NaN does. The last warp of a block may be partial.
//
//   val total = warp_reduce(t, x, plus{});
//   val of_row = warp_reduce<8>(t, x, maximum{});       // over lanes 0 to 7, 8 to 15, ...
//   moments all = warp_reduce(t, mine, [](const moments& a, const moments& b) { return merge(a, b); });

#include <kaio/dsl/warp/operation.hpp>
#include <kaio/dsl/warp/shuffle.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// The lanes that need the result of a reduction.
enum class receiver { all, first };

// One step. Mode `down`: with the lane above as the right operand; else with the partner of a butterfly.
template <exchangeable S, class Op>
constexpr values_of<S> step(tracer& t, const Op& op, modifier mode, std::uint32_t distance,
                            std::uint32_t width, value members, const values_of<S>& x) {
  const shuffle_source from = source_of(t, mode, t.constant(ptx::type::u32, distance), width, members);
  return combine<S>(t, op, x, shuffle(t, from, x));
}

template <exchangeable S, class Op>
constexpr values_of<S> redux(tracer& t, value members, const values_of<S>& x) {
  using enum ptx::type;
  constexpr modifier op = redux_operation<Op>;
  constexpr ptx::type kept = ptx_type<element<S>>;
  constexpr ptx::type computed = ptx::is_signed(kept) ? s32 : u32;
  constexpr bool is_ordered = op == modifier::add || op == modifier::min || op == modifier::max;
  const value v = t.in_register(x.ids[0]);
  t.begin(opcode::redux_sync, in_order(op), is_ordered ? computed : b32);
  const value result = t.define(op == modifier::add ? computed : kept);
  t.use(v);
  t.use(members);
  return {{op == modifier::add ? t.narrow(kept, result) : result}};
}

// Reduces each group of `width` lanes in a warp of `lanes`. The result is in the group's first lane, or in
// all.
template <exchangeable S, class Op>
constexpr values_of<S> reduce_lanes(const thread& t, const warp_lanes& lanes, std::uint32_t width,
                                    const Op& op, values_of<S> x, receiver to) {
  tracer& trace = t.trace();
  const bool is_one_group = width == 32 || (lanes.known != 0 && width >= lanes.known);
  if constexpr (redux_reduces<S, Op>)
    if (is_one_group && trace.target.sm >= 80) return redux<S, Op>(trace, lanes.members, x);
  const std::uint32_t partial = lanes.rest % width;  // lanes of the last group
  if (commutes<Op>() && partial == 0 && to == receiver::all) {
    for (std::uint32_t mask = 1; mask < width; mask *= 2)
      x = step<S>(trace, op, modifier::bfly, mask, width, lanes.members, x);
    return x;
  }
  for (std::uint32_t delta = 1; delta < width; delta *= 2) {
    if (lanes.known != 0 && lanes.known <= delta) break;
    const values_of<S> sum = step<S>(trace, op, modifier::down, delta, width, lanes.members, x);
    // Lane k * 2 * delta takes lane k * 2 * delta + delta, which may be missing at the end of the last group.
    const std::uint32_t over = partial % (2 * delta);
    if (over == 0 || over > delta) {
      x = sum;
      continue;
    }
    const value lane = lane_of(t);
    const value other =
        trace.binary(operation::add, ptx::type::u32, lane, trace.constant(ptx::type::u32, delta));
    x = select(trace, trace.compare(operation::lt, ptx::type::u32, other, lanes.count), sum, x);
  }
  if (to == receiver::first || lanes.known == 1 || width == 1) return x;
  const shuffle_source first =
      source_of(trace, modifier::idx, trace.constant(ptx::type::u32, 0), width, lanes.members);
  return shuffle(trace, first, x);
}

template <exchangeable S, class Op>
constexpr values_of<S> reduce_warp(const thread& t, std::uint32_t width, const Op& op, const values_of<S>& x,
                                   receiver to) {
  return reduce_lanes<S>(t, lanes_of(t), width, op, x, to);
}

template <std::uint32_t Width, exchangeable S, class Op>
constexpr auto warp_reduce(const thread& t, const S& x, const Op& op, receiver to, std::uint32_t line,
                           const char* file) {
  require_width<Width>();
  return emit<exchanged<S>>(
      t.trace(), line, file,
      [&](tracer& trace) { return reduce_warp<exchanged<S>>(t, Width, op, flatten(trace, x), to); }, x);
}

}  // namespace detail

// The reduction of x over each group of Width lanes, in every lane of it. All threads of the warp must reach
// the call. Kernels for sm_80 or later (kernel_options{.target = {80}}) reduce integers of up to 32 bits over
// a whole warp by redux.sync.
template <std::uint32_t Width = 32, exchangeable S, class Op>
constexpr auto warp_reduce(const thread& t, const S& x, const Op& op, std::uint32_t line = __builtin_LINE(),
                           const char* file = __builtin_FILE()) {
  return detail::warp_reduce<Width>(t, x, op, detail::receiver::all, line, file);
}

// The reduction of x in the first lane of each group only; the other lanes get an unspecified value. Saves a
// shuffle if warp_reduce has to send the result to the other lanes.
template <std::uint32_t Width = 32, exchangeable S, class Op>
constexpr auto warp_reduce_to_first(const thread& t, const S& x, const Op& op,
                                    std::uint32_t line = __builtin_LINE(),
                                    const char* file = __builtin_FILE()) {
  return detail::warp_reduce<Width>(t, x, op, detail::receiver::first, line, file);
}

template <std::uint32_t Width = 32, class First, class... Rest>
constexpr auto warp_reduce(const First&, const Rest&...) {
  static_assert(never<First>,
                "kaio: warp_reduce takes the thread, a value and an operator: warp_reduce(t, x, plus{})");
  return refused{};
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::warp_reduce;
using dsl::warp_reduce_to_first;
}  // namespace kaio
