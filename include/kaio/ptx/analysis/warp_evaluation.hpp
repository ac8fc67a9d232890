#pragma once
// The addresses of one warp: the instructions of a plan, evaluated on its 32 lanes until nothing changes.
//
//   warp_evaluator<plan.slot_count, plan.place_count> warp(my_program, plan, 0);
//   warp.run();
//   lane_value address = warp.address(plan.places[3]);

#include <kaio/ptx/analysis/access_plan.hpp>
#include <kaio/ptx/analysis/exact_lanes.hpp>
#include <kaio/ptx/analysis/lane_value.hpp>

#include <cstdint>

namespace kaio::ptx {

template <std::uint32_t Slots, std::uint32_t Places>
class warp_evaluator {
  using lanes_of_places = lane_arithmetic<2 * Places + 8>;

 public:
  constexpr warp_evaluator(const program& p, const access_plan& plan, std::uint32_t warp)
      : p_(p), plan_(plan), warp_(warp) {}

  constexpr void run() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (std::uint32_t k = 0; k < plan_.place_count; ++k)
        if (plan_.places[k].is_step && is_stale(k) && step(k)) changed = plan_.has_variables;
    }
  }

  constexpr const lanes_of_places& lanes() const { return lanes_; }

  // The address of an access, as far as it is known.
  constexpr lane_value address(const access_plan::place& at) {
    const instruction& it = p_.instructions[at.instruction];
    for (std::uint32_t k = it.first_operand; k < it.first_operand + it.operand_count; ++k) {
      const operand& o = p_.operands[k];
      if (o.kind == operand_kind::address || o.kind == operand_kind::symbol_address) return read(at, o);
    }
    return unknown_lanes();
  }

 private:
  // Whether an operand of the instruction has changed since it was evaluated.
  constexpr bool is_stale(std::uint32_t k) const {
    const access_plan::place& at = plan_.places[k];
    if (evaluated_[k] == 0) return true;
    const instruction& it = p_.instructions[at.instruction];
    for (std::uint32_t o = destinations(p_, it).end; o < it.first_operand + it.operand_count; ++o) {
      const operand& from = p_.operands[o];
      if (from.kind != operand_kind::reg && from.kind != operand_kind::address) continue;
      if (changed_[plan_.slot_of[from.index]] > evaluated_[k]) return true;
    }
    for (std::uint32_t d = at.first_divergence; d != 0; d = plan_.divergences[d].next)
      if (changed_[plan_.slot_of[plan_.divergences[d].predicate]] > evaluated_[k]) return true;
    return false;
  }

  constexpr bool step(std::uint32_t k) {
    evaluated_[k] = ++clock_;
    const access_plan::place& at = plan_.places[k];
    const lane_value result = evaluate(at);
    if (result.state == lane_value::kind::unset) return false;
    bool changed = false;
    const operand_span to = destinations(p_, p_.instructions[at.instruction]);
    for (std::uint32_t o = to.first; o < to.end; ++o) {
      const operand& result_of = p_.operands[o];
      if (result_of.kind == operand_kind::registers)
        for (std::uint32_t n = 0; n < result_of.bits; ++n)
          changed = join(result_of.index + n, result) || changed;
      if (result_of.kind == operand_kind::reg) changed = join(result_of.index, result) || changed;
    }
    return changed;
  }

  // Adds a possible value of a register; true if it is new.
  constexpr bool join(std::uint32_t reg, const lane_value& result) {
    const std::uint32_t slot = plan_.slot_of[reg];
    if (slot == 0) return false;
    const lane_value joined = lanes_.either(registers_[slot], result);
    if (same(joined, registers_[slot])) return false;
    registers_[slot] = joined;
    changed_[slot] = ++clock_;
    return true;
  }

  constexpr lane_value special(special_register r) {
    const dim3 block = p_.block;
    switch (r) {
      case special_register::tid_x: return thread_index([&](std::uint32_t rank) { return rank % block.x; });
      case special_register::tid_y:
        return thread_index([&](std::uint32_t rank) { return rank / block.x % block.y; });
      case special_register::tid_z:
        return thread_index([&](std::uint32_t rank) { return rank / block.x / block.y; });
      case special_register::laneid:
        return thread_index([](std::uint32_t rank) { return rank % warp_lanes; });
      case special_register::ntid_x: return constant_lanes(block.x);
      case special_register::ntid_y: return constant_lanes(block.y);
      case special_register::ntid_z: return constant_lanes(block.z);
      case special_register::lanemask_eq:
      case special_register::lanemask_lt:
      case special_register::lanemask_le:
      case special_register::lanemask_gt:
      case special_register::lanemask_ge:
      case special_register::clock:
      case special_register::clock64:
      case special_register::globaltimer: return unknown_lanes();
      default: return shared_part();
    }
  }

  // If the block does not fill its last warp, the missing lanes act like the last thread.
  template <class F>
  constexpr lane_value thread_index(const F& of_rank) {
    const auto last = static_cast<std::uint32_t>(p_.block.count()) - 1;
    return lanes_.of_each([&](std::uint32_t lane) {
      const std::uint32_t rank = warp_ * warp_lanes + lane;
      return std::uint64_t{of_rank(rank < last ? rank : last)};
    });
  }

  // The value of an operand: a number, a register's value, an address with its offset.
  constexpr lane_value read(const access_plan::place& at, const operand& o) {
    switch (o.kind) {
      case operand_kind::immediate: return constant_lanes(size_of(o.type) == 8 ? o.bits : extended(o.bits));
      case operand_kind::special: return special(static_cast<special_register>(o.index));
      case operand_kind::parameter: return shared_part();
      case operand_kind::symbol:
      case operand_kind::symbol_address:
        return lanes_.sum(shared_part(low_zeros(p_.arrays[o.index].alignment)), constant_lanes(o.bits));
      case operand_kind::reg:
      case operand_kind::address: break;
      default: return unknown_lanes();
    }
    const std::uint32_t reg = o.index;
    for (std::uint32_t d = at.first_divergence; d != 0; d = plan_.divergences[d].next) {
      const lane_value& predicate = registers_[plan_.slot_of[plan_.divergences[d].predicate]];
      const bool diverges = predicate.state != lane_value::kind::unset && !predicate.is_uniform();
      if (plan_.divergences[d].reg == reg && diverges) return unknown_lanes();
    }
    const lane_value& v = registers_[plan_.slot_of[reg]];
    const bool has_offset = o.kind == operand_kind::address && o.bits != 0 && v.is_known();
    return has_offset ? lanes_.sum(v, constant_lanes(o.bits)) : v;
  }

  struct sources {
    lane_value of[4];
    std::uint32_t count = 0;
    bool known = true, uniform = true, exact = true;
  };

  constexpr lane_value evaluate(const access_plan::place& at) {
    const instruction& it = p_.instructions[at.instruction];
    if (it.op == opcode::atom || it.op == opcode::mov_volatile) return unknown_lanes();
    // Its text may name a special register.
    if (it.op == opcode::text || it.op == opcode::text_pure) return unknown_lanes();
    if (it.op == opcode::activemask) return shared_part();
    sources s;
    for (std::uint32_t k = destinations(p_, it).end; k < it.first_operand + it.operand_count; ++k) {
      if (s.count == 4 || p_.operands[k].kind == operand_kind::pack) return unknown_lanes();
      lane_value& v = s.of[s.count++];
      v = read(at, p_.operands[k]);
      if (v.state == lane_value::kind::unset) return v;
      s.known = s.known && v.is_known();
      s.uniform = s.uniform && v.is_uniform();
      s.exact = s.exact && v.is_exact();
    }
    const lane_value result = apply(it, s);
    // If the instruction depends on its operands alone and they are equal in all lanes, so is the result.
    return !result.is_known() && s.uniform && facts(it.op).pure ? shared_part() : result;
  }

  constexpr lane_value apply(const instruction& it, const sources& s) {
    const lane_value& a = s.of[0];
    const lane_value& b = s.of[1];
    const lane_value& c = s.of[2];
    switch (it.op) {
      case opcode::mov: return destinations(p_, it).first == it.first_operand ? a : unknown_lanes();
      case opcode::cvta_to: return s.uniform ? shared_part(pointer_zeros) : a;
      case opcode::cvta: return a;
      case opcode::ld:  // each thread has its own local memory
        return s.uniform && !contains(it.modifiers, modifier::local) ? shared_part() : unknown_lanes();
      case opcode::vote_sync:
      case opcode::redux_sync:
      case opcode::bar_red: return shared_part();
      case opcode::shfl_sync: {
        const bool from_one = contains(it.modifiers, modifier::idx) && b.is_uniform() && c.is_constant() &&
                              c.base == warp_lanes - 1;
        return from_one || s.uniform ? shared_part() : unknown_lanes();
      }
      default: break;
    }
    if (!s.known) return unknown_lanes();
    if (it.op == opcode::selp) return choose(a, b, c);
    if (is_floating(it.type0) || it.type0 == type::pred) return s.exact ? exactly(it, s) : unknown_lanes();
    if (it.op == opcode::cvt) return convert(it, a);
    const lane_value linear = combined(it, a, b, c);
    if (!s.exact) return linear;
    return linear.is_known() && lanes_.lies_within(linear, lowest, highest) ? linear : exactly(it, s);
  }

  // Operations that keep a shared part. Of exact values, only the linear operations are done here.
  constexpr lane_value combined(const instruction& it, const lane_value& a, const lane_value& b,
                                const lane_value& c) {
    switch (it.op) {
      case opcode::add: return lanes_.sum(a, b);
      case opcode::sub: return lanes_.sum(a, negated(b));
      case opcode::neg: return negated(a);
      case opcode::mul: return multiplied(it, a, b);
      case opcode::mad: return lanes_.sum(multiplied(it, a, b), c);
      case opcode::shl:
        if (!b.is_constant() || b.base >= 8 * size_of(it.type0)) return unknown_lanes();
        return lanes_.product(a, constant_lanes(std::uint64_t{1} << b.base));
      default: break;
    }
    if (a.is_exact() && b.is_exact()) return unknown_lanes();
    switch (it.op) {
      case opcode::shr: return lanes_.shifted_right(a, b);
      case opcode::and_:
      case opcode::or_:
      case opcode::xor_: return lanes_.bitwise(it.op, a, b);
      default: return unknown_lanes();
    }
  }

  // The low or the whole product. In an unsigned wide product, a number below 0 is a large one.
  constexpr lane_value multiplied(const instruction& it, const lane_value& a, const lane_value& b) {
    if (contains(it.modifiers, modifier::hi)) return unknown_lanes();
    if (!a.is_exact() || !b.is_exact()) return lanes_.product(a, b);
    const bool is_linear = a.shape == 0 || b.shape == 0;
    const bool any_sign = is_signed(it.type0) || !contains(it.modifiers, modifier::wide) ||
                          (lanes_.lies_within(a, 0, highest) && lanes_.lies_within(b, 0, highest));
    if (is_linear && any_sign) return lanes_.product(a, b);
    instruction mul = it;
    mul.op = opcode::mul;
    sources s;
    s.of[0] = a;
    s.of[1] = b;
    return exactly(mul, s);
  }

  constexpr lane_value exactly(const instruction& it, const sources& s) {
    const lane_value& a = s.of[0];
    const lane_value& b = s.of[1];
    const lane_value& c = s.of[2];
    bool known = true;
    const auto of_lane = [&](std::uint32_t i) {
      const exact_number n =
          exact_result(it.op, it.modifiers, it.type0, lanes_.at(a, i), lanes_.at(b, i), lanes_.at(c, i));
      known = known && n.known;
      return n.bits;
    };
    const bool uniform = a.shape == 0 && b.shape == 0 && c.shape == 0;
    const lane_value v = uniform ? constant_lanes(of_lane(0)) : lanes_.of_each(of_lane);
    return known ? v : unknown_lanes();
  }

  constexpr lane_value convert(const instruction& it, const lane_value& a) {
    const type to = it.type0;
    const type from = it.type1;
    if (is_floating(from) || it.modifiers != 0) return unknown_lanes();
    const unsigned bytes = fewer(size_of(to), size_of(from));
    if (a.is_exact()) {
      if (bytes >= 4 && lanes_.lies_within(a, 0, highest)) return a;
      return lanes_.each(a, a, a.zeros,
                         [&](std::uint64_t x, std::uint64_t) { return converted(to, from, x); });
    }
    if (bytes >= 4) return a;
    if (!is_unsigned(size_of(to) < size_of(from) ? to : from)) return unknown_lanes();
    return lanes_.bitwise(opcode::and_, a, constant_lanes((std::uint64_t{1} << 8 * bytes) - 1));
  }

  constexpr lane_value choose(const lane_value& a, const lane_value& b, const lane_value& condition) {
    if (condition.is_constant()) return condition.base != 0 ? a : b;
    if (condition.is_uniform()) return lanes_.either(a, b);
    if (!condition.is_exact() || !a.is_exact() || !b.is_exact()) return unknown_lanes();
    return lanes_.of_each(
        [&](std::uint32_t i) { return lanes_.at(lanes_.at(condition, i) != 0 ? a : b, i); });
  }

  static constexpr unsigned pointer_zeros = 8;  // a buffer begins at a multiple of 256 bytes
  // The range of a 32-bit register; exact values beyond it are computed lane by lane.
  static constexpr std::int64_t lowest = -0x80000000ll;
  static constexpr std::int64_t highest = 0x7fffffffll;

  const program& p_;
  const access_plan& plan_;
  std::uint32_t warp_;
  lanes_of_places lanes_;
  lane_value registers_[Slots + 1] = {};
  std::uint32_t changed_[Slots + 1] = {};
  std::uint32_t evaluated_[Places + 1] = {};
  std::uint32_t clock_ = 0;
};

}  // namespace kaio::ptx
