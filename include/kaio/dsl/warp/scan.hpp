#pragma once
// Scans over the lanes of a warp, or over groups of them. Each lane gets the reduction of its own value and
// the values of the lanes below, in the order of the lanes. The operator is associative and need not commute.
// The last warp of a block may be partial.
//
//   val sum_so_far = warp_inclusive_scan(t, x, plus{});
//   val place = warp_exclusive_scan(t, count, plus{}, 0u);

#include <kaio/dsl/warp/reduce.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// The inclusive scan of each group of `width` lanes. Source: Hillis and Steele, "Data Parallel Algorithms".
template <exchangeable S, class Op>
constexpr values_of<S> scan_lanes(tracer& t, const warp_lanes& lanes, std::uint32_t width, const Op& op,
                                  values_of<S> x) {
  for (std::uint32_t delta = 1; delta < width; delta *= 2) {
    if (lanes.known != 0 && lanes.known <= delta) break;
    const shuffle_source below =
        source_of(t, modifier::up, t.constant(ptx::type::u32, delta), width, lanes.members);
    value in_range = 0;
    const values_of<S> other = shuffle(t, below, x, &in_range);
    x = select(t, in_range, combine<S>(t, op, other, x), x);
  }
  return x;
}

// The exclusive scan of a group from its inclusive one: op(start, value of the lane below), or `start`.
template <exchangeable S, class Op>
constexpr values_of<S> exclude(tracer& t, const warp_lanes& lanes, std::uint32_t width, const Op& op,
                               const values_of<S>& start, const values_of<S>& inclusive) {
  const shuffle_source below =
      source_of(t, modifier::up, t.constant(ptx::type::u32, 1), width, lanes.members);
  value in_range = 0;
  const values_of<S> other = shuffle(t, below, inclusive, &in_range);
  return select(t, in_range, combine<S>(t, op, start, other), start);
}

// The initial value of a scan: of the type of the values, or a literal.
template <exchangeable R, class I>
constexpr values_of<R> initial_of(tracer& t, const I& initial) {
  if constexpr (device<R>) {
    static_assert(host_number<I> || host_constant<I> || device_of<I, element<R>>,
                  "kaio: the initial value of a scan has another type than its values; write cast<T>(x)");
    return {{lower(t, operand_node<element<R>>(initial))}};
  } else {
    static_assert(std::is_same_v<I, R>, "kaio: the initial value of a scan has another type than its values");
    if constexpr (std::is_same_v<I, R>) return flatten(t, initial);
  }
}

// The inclusive scan in each warp.
template <exchangeable S, class Op>
constexpr values_of<S> inclusive_in_warp(const thread& t, std::uint32_t width, const Op& op,
                                         const values_of<S>& x) {
  return scan_lanes<S>(t.trace(), lanes_of(t), width, op, x);
}

template <exchangeable S, class Op, class I>
constexpr values_of<S> exclusive_in_warp(const thread& t, std::uint32_t width, const Op& op,
                                         const values_of<S>& x, const I& initial) {
  const values_of<S> start = initial_of<S>(t.trace(), initial);
  const warp_lanes lanes = lanes_of(t);
  const values_of<S> scanned = scan_lanes<S>(t.trace(), lanes, width, op, x);
  return exclude<S>(t.trace(), lanes, width, op, start, scanned);
}

}  // namespace detail

// Gives each lane the reduction of x over its group of Width lanes, up to this lane. All threads of the warp
// must reach the call.
template <std::uint32_t Width = 32, exchangeable S, class Op>
constexpr auto warp_inclusive_scan(const thread& t, const S& x, const Op& op,
                                   std::uint32_t line = __builtin_LINE(),
                                   const char* file = __builtin_FILE()) {
  detail::require_width<Width>();
  using result = detail::exchanged<S>;
  return detail::emit<result>(
      t.trace(), line, file,
      [&](tracer& trace) {
        return detail::inclusive_in_warp<result>(t, Width, op, detail::flatten(trace, x));
      },
      x);
}

// The reduction up to the lane below: op(initial, the values of the lanes below). The first lane gets
// `initial`.
template <std::uint32_t Width = 32, exchangeable S, class Op, class I>
constexpr auto warp_exclusive_scan(const thread& t, const S& x, const Op& op, const I& initial,
                                   std::uint32_t line = __builtin_LINE(),
                                   const char* file = __builtin_FILE()) {
  detail::require_width<Width>();
  using result = detail::exchanged<S>;
  return detail::emit<result>(
      t.trace(), line, file,
      [&](tracer& trace) {
        return detail::exclusive_in_warp<result>(t, Width, op, detail::flatten(trace, x), initial);
      },
      x, initial);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::warp_exclusive_scan;
using dsl::warp_inclusive_scan;
}  // namespace kaio
