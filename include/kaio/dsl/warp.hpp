#pragma once
// Exchange of values between the lanes of a warp (PTX shfl.sync), and reductions over a warp. Every lane that
// `members` names must reach the call; what a lane receives from one that is not a member is undefined.
//
//   val neighbour = shfl_down(x, 1u);
//   val total = warp_reduce(t, x, plus{});

#include <kaio/dsl/thread.hpp>

#include <cstdint>

namespace kaio::dsl {

inline constexpr std::uint32_t all_lanes = 0xffffffffu;

namespace detail {

// Shuffles a value of any scalar type: 64 bits go in halves, bool as a number.
constexpr value shuffle(tracer& t, modifier mode, value v, value lane, value clamp_and_segment,
                        value members) {
  const ptx::type type = t.type_of(v);
  if (type == ptx::type::pred) {
    const value moved = t.shuffle(mode, t.cast(ptx::type::u32, type, v), lane, clamp_and_segment, members);
    return t.cast(type, ptx::type::u32, moved);
  }
  if (ptx::size_of(type) == 4) return t.shuffle(mode, v, lane, clamp_and_segment, members);
  const tracer::halves parts = t.split(v);
  const value low = t.shuffle(mode, parts.low, lane, clamp_and_segment, members);
  const value high = t.shuffle(mode, parts.high, lane, clamp_and_segment, members);
  return t.join(type, low, high);
}

template <std::uint32_t Width, class E, class L, class M>
constexpr val<element<E>> shuffle(modifier mode, const E& e, const L& lane, const M& members,
                                  std::uint32_t line, const char* file) {
  static_assert(Width == 1 || Width == 2 || Width == 4 || Width == 8 || Width == 16 || Width == 32,
                "kaio: the width of a shuffle is a power of two up to 32");
  static_assert(node_of<E>::bound, "kaio: a shuffled value knows no kernel yet; bind it with t.let(value)");
  const auto node = e.node();
  tracer& t = *node.context();
  t.statement(line, file);
  if (t.probing()) return val<element<E>>(t, 0);
  t.begin_lowering();
  const value v = node.lower(t);
  const value by = operand_node<u32>(lane).lower(t);
  const value who = operand_node<u32>(members).lower(t);
  const std::uint32_t clamp = mode == modifier::up ? 0 : 31;
  const value result = shuffle(t, mode, v, by, t.constant(ptx::type::u32, (32 - Width) << 8 | clamp), who);
  t.end_lowering();
  return val<element<E>>(t, result);
}

}  // namespace detail

// The value of lane `lane` of this lane's group of Width lanes.
template <std::uint32_t Width = 32, device E, class L, class M = std::uint32_t>
constexpr auto shfl_idx(const E& x, const L& lane, const M& members = all_lanes,
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle<Width>(modifier::idx, x, lane, members, line, file);
}

// The value of the lane `delta` below; the lowest `delta` lanes keep their own.
template <std::uint32_t Width = 32, device E, class L, class M = std::uint32_t>
constexpr auto shfl_up(const E& x, const L& delta, const M& members = all_lanes,
                       std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle<Width>(modifier::up, x, delta, members, line, file);
}

// The value of the lane `delta` above; the highest `delta` lanes keep their own.
template <std::uint32_t Width = 32, device E, class L, class M = std::uint32_t>
constexpr auto shfl_down(const E& x, const L& delta, const M& members = all_lanes,
                         std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle<Width>(modifier::down, x, delta, members, line, file);
}

// The value of the lane whose number differs in the bits of `mask`.
template <std::uint32_t Width = 32, device E, class L, class M = std::uint32_t>
constexpr auto shfl_xor(const E& x, const L& mask, const M& members = all_lanes,
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle<Width>(modifier::bfly, x, mask, members, line, file);
}

// Operators for reductions.
struct plus {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b) const {
    return a + b;
  }
};
struct minimum {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b) const {
    return min(a, b);
  }
};
struct maximum {
  template <class A, class B>
  constexpr auto operator()(const A& a, const B& b) const {
    return max(a, b);
  }
};

namespace detail {

constexpr bool is_power_of_two(std::uint32_t n) { return n != 0 && (n & (n - 1)) == 0; }

// Reduces over a whole warp; each lane gets the result.
template <class T, class Op>
constexpr void butterfly(var<T>& x, const Op& op) {
  for (std::uint32_t mask = 16; mask != 0; mask /= 2) x = op(x, shfl_xor(x, mask));
}

// The same over the first `lanes` lanes of a warp, which are the `members`.
template <class T, class Op, class Lanes, class Members>
constexpr void tree(const thread& t, var<T>& x, const Op& op, const Lanes& lanes, const Members& members) {
  const val lane = t.lane_rank();
  for (std::uint32_t delta = 16; delta != 0; delta /= 2) {
    const val other = shfl_down(x, delta, members);
    x = select(lane + delta < lanes, op(x, other), x);
  }
  x = shfl_idx(x, 0, members);
}

template <class T, class Op>
constexpr void reduce_warp(const thread& t, var<T>& x, const Op& op, std::uint32_t block) {
  const std::uint32_t rest = block % 32;
  if (rest == 0) return butterfly(x, op);
  if (block < 32) return tree(t, x, op, block, (1u << block) - 1);
  const val last = t.warp_rank() == block / 32;
  const val<u32> lanes = t.let(select(last, literal<u32>{{}, rest}, literal<u32>{{}, 32}));
  const val<u32> members =
      t.let(select(last, literal<u32>{{}, (1u << rest) - 1}, literal<u32>{{}, all_lanes}));
  tree(t, x, op, lanes, members);
}

// Runs `steps` on a variable that starts as x, as one statement of the kernel.
template <class E, class Steps>
constexpr val<element<E>> reduce(const thread& t, const E& x, std::uint32_t line, const char* file,
                                 const Steps& steps) {
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (trace.probing()) return val<element<E>>(trace, 0);
  trace.begin_lowering();
  var<element<E>> sum(t, x);
  steps(sum);
  const val<element<E>> result(sum);
  trace.end_lowering();
  return result;
}

}  // namespace detail

// The reduction of x over the threads of each warp, in every lane of it. `op` must be associative and
// commutative. The last warp of a block may be partial. All threads of the warp must reach the call.
template <device E, class Op>
constexpr val<element<E>> warp_reduce(const thread& t, const E& x, const Op& op,
                                      std::uint32_t line = __builtin_LINE(),
                                      const char* file = __builtin_FILE()) {
  return detail::reduce(t, x, line, file,
                        [&](auto& sum) { detail::reduce_warp(t, sum, op, t.block_size()); });
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::all_lanes;
using dsl::maximum;
using dsl::minimum;
using dsl::plus;
using dsl::shfl_down;
using dsl::shfl_idx;
using dsl::shfl_up;
using dsl::shfl_xor;
using dsl::warp_reduce;
}  // namespace kaio
