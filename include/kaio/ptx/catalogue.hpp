#pragma once
// The catalogue of PTX instructions: one row an opcode, with the mnemonic that the text carries, the PTX ISA
// version and the architecture that first have it, and what an optimiser may do with it. Everything that kaio
// knows about an instruction apart from its operands stands here. Source: PTX ISA, "Instruction Set".
//
//   static_assert(kaio::ptx::facts(kaio::ptx::opcode::shfl_sync).version == kaio::ptx::isa_version{6, 0});

#include <kaio/ptx/target.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ptx {

// An opcode with those of its modifiers that select a different operation; the others are `modifier`s. A
// trailing underscore where C++ claims the word.
enum class opcode : std::uint8_t {
  none,   // a removed instruction: it has no text
  label,  // a place that branches name; no instruction either
  mov,
  cvt,
  selp,
  setp,
  cvta_to_global,
  add,
  sub,
  mul,
  mul_lo,
  mad_lo,
  mad_wide,
  fma,
  div,
  rem,
  neg,
  abs,
  min,
  max,
  sqrt,
  ex2_approx,
  and_,
  or_,
  xor_,
  not_,
  shl,
  shr,
  ld_param,
  ld_global,
  ld_global_nc,
  st_global,
  ld_shared,
  st_shared,
  shfl_sync,
  bar_sync,
  bra,
  ret,
};

// What stands between the mnemonic and the types: a rounding mode, a comparison, a shuffle mode.
enum class modifier : std::uint8_t {
  none,
  rn,
  rzi,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  neu,
  up,
  down,
  bfly,
  idx,
};

struct instruction_facts {
  opcode op;
  std::string_view mnemonic;
  isa_version version;  // the first PTX ISA version that has it
  std::uint16_t sm;     // the first architecture that has it
  bool pure;            // its result depends on its operands alone, so it may be shared or removed
};

namespace detail {
inline constexpr instruction_facts catalogue[] = {
    {opcode::none, "", {1, 0}, 10, true},
    {opcode::label, "", {1, 0}, 10, false},
    {opcode::mov, "mov", {1, 0}, 10, true},
    {opcode::cvt, "cvt", {1, 0}, 10, true},
    {opcode::selp, "selp", {1, 0}, 10, true},
    {opcode::setp, "setp", {1, 0}, 10, true},
    {opcode::cvta_to_global, "cvta.to.global", {2, 0}, 20, true},
    {opcode::add, "add", {1, 0}, 10, true},
    {opcode::sub, "sub", {1, 0}, 10, true},
    {opcode::mul, "mul", {1, 0}, 10, true},
    {opcode::mul_lo, "mul.lo", {1, 0}, 10, true},
    {opcode::mad_lo, "mad.lo", {1, 0}, 10, true},
    {opcode::mad_wide, "mad.wide", {1, 0}, 10, true},
    {opcode::fma, "fma", {1, 4}, 13, true},
    {opcode::div, "div", {1, 0}, 10, true},
    {opcode::rem, "rem", {1, 0}, 10, true},
    {opcode::neg, "neg", {1, 0}, 10, true},
    {opcode::abs, "abs", {1, 0}, 10, true},
    {opcode::min, "min", {1, 0}, 10, true},
    {opcode::max, "max", {1, 0}, 10, true},
    {opcode::sqrt, "sqrt", {1, 0}, 10, true},
    {opcode::ex2_approx, "ex2.approx", {1, 0}, 10, true},
    {opcode::and_, "and", {1, 0}, 10, true},
    {opcode::or_, "or", {1, 0}, 10, true},
    {opcode::xor_, "xor", {1, 0}, 10, true},
    {opcode::not_, "not", {1, 0}, 10, true},
    {opcode::shl, "shl", {1, 0}, 10, true},
    {opcode::shr, "shr", {1, 0}, 10, true},
    {opcode::ld_param, "ld.param", {1, 0}, 10, true},
    {opcode::ld_global, "ld.global", {1, 0}, 10, false},
    {opcode::ld_global_nc, "ld.global.nc", {3, 1}, 32, true},
    {opcode::st_global, "st.global", {1, 0}, 10, false},
    {opcode::ld_shared, "ld.shared", {1, 0}, 10, false},
    {opcode::st_shared, "st.shared", {1, 0}, 10, false},
    {opcode::shfl_sync, "shfl.sync", {6, 0}, 30, false},
    {opcode::bar_sync, "bar.sync", {1, 0}, 10, false},
    {opcode::bra, "bra", {1, 0}, 10, false},
    {opcode::ret, "ret", {1, 0}, 10, false},
};

constexpr bool catalogue_is_in_order() {
  unsigned i = 0;
  for (const instruction_facts& row : catalogue)
    if (static_cast<unsigned>(row.op) != i++) return false;
  return i == static_cast<unsigned>(opcode::ret) + 1;
}
static_assert(catalogue_is_in_order(),
              "kaio: each opcode needs its row of the catalogue, in the order of the enum");

inline constexpr std::string_view modifier_text[] = {
    "", ".rn", ".rzi", ".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".neu", ".up", ".down", ".bfly", ".idx",
};
static_assert(sizeof(modifier_text) / sizeof(modifier_text[0]) == static_cast<unsigned>(modifier::idx) + 1);
}  // namespace detail

constexpr const instruction_facts& facts(opcode op) { return detail::catalogue[static_cast<unsigned>(op)]; }

// The modifier as the text carries it, with its dot: ".rn". Empty for modifier::none.
constexpr std::string_view suffix(modifier m) { return detail::modifier_text[static_cast<unsigned>(m)]; }

// The first PTX ISA version that knows a target. Source: PTX ISA, "Release Notes".
constexpr isa_version first_version(target t) {
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
