#pragma once
// The lanes of a warp that hold the same value (PTX match.sync), bit by bit: a NaN matches its own bits, and
// -0 does not match +0. Values have 32 or 64 bits. Every lane that `members` names must reach the call.
//
//   val peers = match_any(key);                     // the lanes with this lane's key
//   const auto [lanes, matched] = match_all(key);

#include <kaio/dsl/warp/lanes.hpp>

#include <cstdint>

namespace kaio::dsl {

// The result of match_all: the member lanes and true if all hold the same value; else 0 and false.
struct matched_lanes {
  val<u32> lanes;
  val<bool> matched;
};

namespace detail {

template <class E>
constexpr auto require_matchable() {
  static_assert(sizeof(element<E>) == 4 || sizeof(element<E>) == 8,
                "kaio: match takes values of 32 or 64 bits; write cast<u32>(x)");
  static_assert(node_of<E>::bound, "kaio: the value knows no kernel yet; bind it with t.let(value)");
}

constexpr void begin_match(tracer& t, modifier mode, value v) {
  const bool is_wide = ptx::size_of(t.type_of(v)) == 8;
  t.begin(opcode::match_sync, in_order(mode, modifier::sync), is_wide ? ptx::type::b64 : ptx::type::b32);
}

}  // namespace detail

// The mask of the member lanes that hold the value of this lane.
template <device E, class M = std::uint32_t>
constexpr auto match_any(const E& x, const M& members = all_lanes, std::uint32_t line = __builtin_LINE(),
                         const char* file = __builtin_FILE()) {
  detail::require_matchable<E>();
  const auto node = x.node();
  tracer& t = kernel_of(node);
  t.statement(line, file);
  if (t.probing()) {
    see_operands(t, node, operand_node<u32>(members));
    return val<u32>(t, t.identity());
  }
  const value v = t.in_register(lower(t, node));
  const value who = lower(t, operand_node<u32>(members));
  detail::begin_match(t, modifier::any, v);
  const value lanes = t.define(ptx::type::u32);
  t.use(v);
  t.use(who);
  return val<u32>(t, lanes);
}

// Whether all member lanes hold the same value, and their mask then.
template <device E, class M = std::uint32_t>
constexpr matched_lanes match_all(const E& x, const M& members = all_lanes,
                                  std::uint32_t line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) {
  detail::require_matchable<E>();
  const auto node = x.node();
  tracer& t = kernel_of(node);
  t.statement(line, file);
  if (t.probing()) {
    see_operands(t, node, operand_node<u32>(members));
    return {val<u32>(t, t.new_identity()), val<bool>(t, t.new_identity())};
  }
  const value v = t.in_register(lower(t, node));
  const value who = lower(t, operand_node<u32>(members));
  detail::begin_match(t, modifier::all, v);
  t.add({operand_kind::pair, ptx::type::none, 2, 0});
  const value lanes = t.define(ptx::type::u32);
  const value matched = t.define(ptx::type::pred);
  t.use(v);
  t.use(who);
  return {val<u32>(t, lanes), val<bool>(t, matched)};
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::matched_lanes;
}  // namespace kaio
