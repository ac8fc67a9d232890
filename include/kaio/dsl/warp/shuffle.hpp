#pragma once
// Exchange of values between the lanes of a warp (PTX shfl.sync). Every lane that `members` names must reach
// the call; the value from a lane that is not a member is undefined. Values of every type are exchanged, and
// aggregates of vals. Groups of Width lanes, a power of two, exchange among themselves.
//
//   val neighbour = shfl_down(x, 1u);
//   const auto [below, exists] = shfl_up_checked(x, 1);

#include <kaio/dsl/warp/aggregate.hpp>
#include <kaio/dsl/warp/lanes.hpp>

#include <cstdint>

namespace kaio::dsl {

// The result of a shuffle, and whether the lane asked was in range.
template <class S>
struct shuffled {
  S value;
  val<bool> in_range;
};

namespace detail {

constexpr bool is_power_of_two(std::uint32_t n) { return n != 0 && (n & (n - 1)) == 0; }

template <std::uint32_t Width>
constexpr auto require_width() {
  static_assert(is_power_of_two(Width) && Width <= 32,
                "kaio: the width of a shuffle is a power of two up to 32");
}

// The lane that a shuffle reads, and its group.
struct shuffle_source {
  modifier mode;
  value by;
  value clamp_and_segment;
  value members;
};

constexpr shuffle_source source_of(tracer& t, modifier mode, value by, std::uint32_t width, value members) {
  const std::uint32_t clamp = mode == modifier::up ? 0 : 31;
  return {mode, by, t.constant(ptx::type::u32, (32 - width) << 8 | clamp), members};
}

// One register of 32 bits; `in_range` takes the predicate if it is requested.
constexpr value shuffle_word(tracer& t, const shuffle_source& from, value v, value* in_range) {
  const ptx::type type = t.type_of(v);
  v = t.in_register(v);
  t.begin(opcode::shfl_sync, in_order(from.mode), ptx::type::b32);
  if (in_range != nullptr) t.add({operand_kind::pair, ptx::type::none, 2, 0});
  const value result = t.define(type);
  if (in_range != nullptr) *in_range = t.define(ptx::type::pred);
  t.use(v);
  t.use(from.by);
  t.use(from.clamp_and_segment);
  t.use(from.members);
  return result;
}

// A value of any scalar type: 64 bits go in halves, bool and floats of 16 bits as numbers.
constexpr value shuffle(tracer& t, const shuffle_source& from, value v, value* in_range = nullptr) {
  using enum ptx::type;
  const ptx::type type = t.type_of(v);
  if (type == pred) return t.cast(type, u32, shuffle_word(t, from, t.cast(u32, type, v), in_range));
  if (type == f16 || type == bf16) {
    const value bits = shuffle_word(t, from, t.reinterpret(u16, v), in_range);
    return t.reinterpret(type, bits);
  }
  if (ptx::size_of(type) != 8) return shuffle_word(t, from, v, in_range);
  const tracer::halves parts = t.split(v, u32);
  const value low = shuffle_word(t, from, parts.low, in_range);
  const value high = shuffle_word(t, from, parts.high, nullptr);
  return t.join(type, low, high);
}

// The predicate comes with the first value.
template <std::uint32_t N>
constexpr value_list<N> shuffle(tracer& t, const shuffle_source& from, const value_list<N>& list,
                                value* in_range = nullptr) {
  value_list<N> result;
  for (std::uint32_t k = 0; k < N; ++k)
    result.ids[k] = shuffle(t, from, list.ids[k], k == 0 ? in_range : nullptr);
  return result;
}

// Emits a shfl_*().
template <std::uint32_t Width, exchangeable S, class L, class M>
constexpr values_of<S> exchange_lanes(tracer& t, modifier mode, const S& s, const L& lane, const M& members,
                                      value* in_range = nullptr) {
  const values_of<S> list = flatten(t, s);
  const value by = lower(t, operand_node<u32>(lane));
  const value who = lower(t, operand_node<u32>(members));
  return shuffle(t, source_of(t, mode, by, Width, who), list, in_range);
}

template <std::uint32_t Width, exchangeable S, class L, class M>
constexpr exchanged<S> shuffle(modifier mode, const S& s, const L& lane, const M& members, std::uint32_t line,
                               const char* file) {
  require_width<Width>();
  return emit<exchanged<S>>(
      kernel_of_members(s), line, file,
      [&](tracer& t) { return exchange_lanes<Width>(t, mode, s, lane, members); }, s, lane, members);
}

template <std::uint32_t Width, exchangeable S, class L, class M>
constexpr shuffled<exchanged<S>> shuffle_checked(modifier mode, const S& s, const L& lane, const M& members,
                                                 std::uint32_t line, const char* file) {
  require_width<Width>();
  tracer& t = kernel_of_members(s);
  value in_range = 0;
  const exchanged<S> moved = emit<exchanged<S>>(
      t, line, file,
      [&](tracer& same) { return exchange_lanes<Width>(same, mode, s, lane, members, &in_range); }, s, lane,
      members);
  if (t.probing()) in_range = t.new_identity();
  return {moved, val<bool>(t, in_range)};
}

}  // namespace detail

// The value of lane `lane` modulo Width in this lane's group of Width lanes.
template <std::uint32_t Width = 32, exchangeable S, class L, class M = std::uint32_t>
constexpr auto shfl_idx(const S& x, const L& lane, const M& members = all_lanes,
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle<Width>(modifier::idx, x, lane, members, line, file);
}

// The value of the lane `delta` below; the lowest `delta` lanes of a group keep their own.
template <std::uint32_t Width = 32, exchangeable S, class L, class M = std::uint32_t>
constexpr auto shfl_up(const S& x, const L& delta, const M& members = all_lanes,
                       std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle<Width>(modifier::up, x, delta, members, line, file);
}

// The value of the lane `delta` above; the highest `delta` lanes of a group keep their own.
template <std::uint32_t Width = 32, exchangeable S, class L, class M = std::uint32_t>
constexpr auto shfl_down(const S& x, const L& delta, const M& members = all_lanes,
                         std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle<Width>(modifier::down, x, delta, members, line, file);
}

// The value of the lane whose number differs in the bits of `mask`. A lane of a group further up is out of
// range.
template <std::uint32_t Width = 32, exchangeable S, class L, class M = std::uint32_t>
constexpr auto shfl_xor(const S& x, const L& mask, const M& members = all_lanes,
                        std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle<Width>(modifier::bfly, x, mask, members, line, file);
}

// shfl_up(), and whether the lane below was in range: {value, in_range}.
template <std::uint32_t Width = 32, exchangeable S, class L, class M = std::uint32_t>
constexpr auto shfl_up_checked(const S& x, const L& delta, const M& members = all_lanes,
                               std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle_checked<Width>(modifier::up, x, delta, members, line, file);
}

// shfl_down(), and whether the lane above was in range: {value, in_range}.
template <std::uint32_t Width = 32, exchangeable S, class L, class M = std::uint32_t>
constexpr auto shfl_down_checked(const S& x, const L& delta, const M& members = all_lanes,
                                 std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle_checked<Width>(modifier::down, x, delta, members, line, file);
}

// shfl_xor(), and whether the lane named by `mask` was in range: {value, in_range}.
template <std::uint32_t Width = 32, exchangeable S, class L, class M = std::uint32_t>
constexpr auto shfl_xor_checked(const S& x, const L& mask, const M& members = all_lanes,
                                std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
  return detail::shuffle_checked<Width>(modifier::bfly, x, mask, members, line, file);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::shfl_down;
using dsl::shfl_down_checked;
using dsl::shfl_idx;
using dsl::shfl_up;
using dsl::shfl_up_checked;
using dsl::shfl_xor;
using dsl::shfl_xor_checked;
}  // namespace kaio
