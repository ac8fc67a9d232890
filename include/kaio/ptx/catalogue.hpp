#pragma once
// The catalogue of PTX instructions: opcodes, modifiers, and one row for each form that is younger than its
// opcode. It has everything that kaio knows about an instruction apart from its operands. Source: PTX ISA,
// "Instruction Set".

#include <kaio/ptx/modifier.hpp>
#include <kaio/ptx/opcode.hpp>
#include <kaio/ptx/type.hpp>

#include <cstdint>

namespace kaio::ptx {

// A form of an instruction that is younger than its opcode: with this type first, and this modifier if any.
struct form_facts {
  opcode op;
  type first;
  modifier mod;
  isa_version version;
  std::uint16_t sm;
};

namespace detail {
inline constexpr form_facts form_table[] = {
    {opcode::add, type::f16, modifier::none, {4, 2}, 53},
    {opcode::add, type::f16x2, modifier::none, {4, 2}, 53},
    {opcode::add, type::bf16, modifier::none, {7, 8}, 90},
    {opcode::add, type::bf16x2, modifier::none, {7, 8}, 90},
    {opcode::sub, type::f16, modifier::none, {4, 2}, 53},
    {opcode::sub, type::f16x2, modifier::none, {4, 2}, 53},
    {opcode::sub, type::bf16, modifier::none, {7, 8}, 90},
    {opcode::sub, type::bf16x2, modifier::none, {7, 8}, 90},
    {opcode::mul, type::f16, modifier::none, {4, 2}, 53},
    {opcode::mul, type::f16x2, modifier::none, {4, 2}, 53},
    {opcode::mul, type::bf16, modifier::none, {7, 8}, 90},
    {opcode::mul, type::bf16x2, modifier::none, {7, 8}, 90},
    {opcode::fma, type::f16, modifier::none, {4, 2}, 53},
    {opcode::fma, type::f16x2, modifier::none, {4, 2}, 53},
    {opcode::fma, type::bf16, modifier::none, {7, 0}, 80},
    {opcode::fma, type::bf16x2, modifier::none, {7, 0}, 80},
    {opcode::neg, type::f16, modifier::none, {6, 0}, 53},
    {opcode::neg, type::f16x2, modifier::none, {6, 0}, 53},
    {opcode::neg, type::bf16, modifier::none, {7, 0}, 80},
    {opcode::neg, type::bf16x2, modifier::none, {7, 0}, 80},
    {opcode::abs, type::f16, modifier::none, {6, 5}, 53},
    {opcode::abs, type::f16x2, modifier::none, {6, 5}, 53},
    {opcode::abs, type::bf16, modifier::none, {7, 0}, 80},
    {opcode::abs, type::bf16x2, modifier::none, {7, 0}, 80},
    {opcode::min, type::f16, modifier::none, {7, 0}, 80},
    {opcode::min, type::f16x2, modifier::none, {7, 0}, 80},
    {opcode::min, type::bf16, modifier::none, {7, 0}, 80},
    {opcode::min, type::bf16x2, modifier::none, {7, 0}, 80},
    {opcode::max, type::f16, modifier::none, {7, 0}, 80},
    {opcode::max, type::f16x2, modifier::none, {7, 0}, 80},
    {opcode::max, type::bf16, modifier::none, {7, 0}, 80},
    {opcode::max, type::bf16x2, modifier::none, {7, 0}, 80},
    {opcode::ex2, type::f16, modifier::none, {7, 0}, 75},
    {opcode::ex2, type::f16x2, modifier::none, {7, 0}, 75},
    {opcode::ex2, type::bf16, modifier::none, {7, 8}, 90},
    {opcode::ex2, type::bf16x2, modifier::none, {7, 8}, 90},
    {opcode::tanh, type::f16, modifier::none, {7, 0}, 75},
    {opcode::tanh, type::f16x2, modifier::none, {7, 0}, 75},
    {opcode::tanh, type::bf16, modifier::none, {7, 8}, 90},
    {opcode::tanh, type::bf16x2, modifier::none, {7, 8}, 90},
    {opcode::cvt, type::bf16, modifier::none, {7, 0}, 80},
    {opcode::cvt, type::bf16x2, modifier::none, {7, 0}, 80},
    {opcode::cvt, type::f16x2, modifier::none, {7, 0}, 80},
    {opcode::atom, type::f64, modifier::add, {5, 0}, 60},
    {opcode::atom, type::f16, modifier::add, {6, 3}, 70},
    {opcode::atom, type::f16x2, modifier::add, {6, 2}, 60},
    {opcode::atom, type::bf16, modifier::add, {7, 8}, 90},
    {opcode::atom, type::bf16x2, modifier::add, {7, 8}, 90},
    {opcode::atom, type::b16, modifier::cas, {6, 3}, 70},
    {opcode::atom, type::b128, modifier::exch, {8, 3}, 90},
    {opcode::atom, type::b128, modifier::cas, {8, 3}, 90},
    {opcode::atom, type::f32, modifier::v2, {8, 1}, 90},
    {opcode::atom, type::f32, modifier::v4, {8, 1}, 90},
    {opcode::atom, type::f16, modifier::v2, {8, 1}, 90},
    {opcode::atom, type::f16, modifier::v4, {8, 1}, 90},
    {opcode::atom, type::bf16, modifier::v2, {8, 1}, 90},
    {opcode::atom, type::bf16, modifier::v4, {8, 1}, 90},
    {opcode::atom, type::f16x2, modifier::v2, {8, 1}, 90},
    {opcode::atom, type::f16x2, modifier::v4, {8, 1}, 90},
    {opcode::atom, type::bf16x2, modifier::v2, {8, 1}, 90},
    {opcode::atom, type::bf16x2, modifier::v4, {8, 1}, 90},
    {opcode::red, type::f64, modifier::add, {5, 0}, 60},
    {opcode::red, type::f16, modifier::add, {6, 3}, 70},
    {opcode::red, type::f16x2, modifier::add, {6, 2}, 60},
    {opcode::red, type::bf16, modifier::add, {7, 8}, 90},
    {opcode::red, type::bf16x2, modifier::add, {7, 8}, 90},
    {opcode::red, type::f32, modifier::v2, {8, 1}, 90},
    {opcode::red, type::f32, modifier::v4, {8, 1}, 90},
    {opcode::red, type::f16x2, modifier::v2, {8, 1}, 90},
    {opcode::red, type::f16x2, modifier::v4, {8, 1}, 90},
    {opcode::red, type::bf16x2, modifier::v2, {8, 1}, 90},
    {opcode::red, type::bf16x2, modifier::v4, {8, 1}, 90},
    {opcode::barrier_cluster_arrive, type::none, modifier::relaxed, {8, 0}, 90},
    {opcode::mbarrier_arrive, type::b64, modifier::release, {8, 0}, 90},
    {opcode::mbarrier_test_wait, type::b64, modifier::acquire, {8, 0}, 90},
    {opcode::mbarrier_try_wait, type::b64, modifier::acquire, {8, 0}, 90},
};
// Whether the table has rows of an opcode for types other than the 16-bit ones.
constexpr bool has_other_forms(opcode op) {
  switch (op) {
    case opcode::atom:
    case opcode::red:
    case opcode::barrier_cluster_arrive:
    case opcode::mbarrier_arrive:
    case opcode::mbarrier_test_wait:
    case opcode::mbarrier_try_wait: return true;
    default: return false;
  }
}
}  // namespace detail

// Raises version and architecture to the least that have an instruction in this form.
constexpr void raise_to(opcode op, modifier_list modifiers, type first, isa_version& version,
                        std::uint16_t& sm) {
  const auto raise = [&](isa_version v, std::uint16_t s) {
    if (version < v) version = v;
    if (sm < s) sm = s;
  };
  raise(facts(op).version, facts(op).sm);
  for (modifier_list rest = modifiers; rest != 0; rest >>= 8) {
    const modifier_facts& row = facts(static_cast<modifier>(rest & 0xff));
    raise(row.version, row.sm);
  }
  if (!is_half(first) && !detail::has_other_forms(op)) return;
  for (const form_facts& row : detail::form_table)
    if (row.op == op && row.first == first && (row.mod == modifier::none || contains(modifiers, row.mod)))
      raise(row.version, row.sm);
}

// The first PTX ISA version that knows a target. Source: PTX ISA, "Release Notes".
constexpr isa_version first_version(target t) {
  switch (t.sm) {
    case 88:
    case 110: return {9, 0};
    case 103:
    case 121: return {8, 8};
    case 107: return {9, 4};
    case 120: return {8, 7};
    default: break;
  }
  if (t.sm >= 100) return {8, 6};
  if (t.sm >= 90) return t.arch_specific ? isa_version{8, 0} : isa_version{7, 8};
  if (t.sm >= 89) return {7, 8};
  if (t.sm >= 87) return {7, 4};
  if (t.sm >= 86) return {7, 1};
  if (t.sm >= 80) return {7, 0};
  if (t.sm >= 75) return {6, 3};
  return t.sm > 70 ? isa_version{6, 1} : isa_version{6, 0};
}

}  // namespace kaio::ptx
