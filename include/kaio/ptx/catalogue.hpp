#pragma once
// The catalogue of PTX instructions: one row an opcode, with the mnemonic that the text carries, the PTX ISA
// version and the architecture that first have it, and what an optimiser may do with it; one row a modifier;
// and one row for each form that is younger than its opcode. Everything that kaio knows about an instruction
// apart from its operands stands here. Source: PTX ISA, "Instruction Set".
//
//   static_assert(kaio::ptx::facts(kaio::ptx::opcode::shfl_sync).version == kaio::ptx::isa_version{6, 0});

#include <kaio/ptx/target.hpp>
#include <kaio/ptx/type.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ptx {

// A trailing underscore where C++ claims the word.
enum class opcode : std::uint8_t {
  none,   // a removed instruction: it has no text
  label,  // a place that branches name; no instruction either
  mov,
  mov_volatile,  // of a special register that changes, such as %clock
  cvt,
  selp,
  setp,
  cvta,
  cvta_to,
  add,
  sub,
  mul,
  mad,
  fma,
  div,
  rem,
  neg,
  abs,
  min,
  max,
  sad,
  sqrt,
  rcp,
  rsqrt,
  ex2,
  lg2,
  sin,
  cos,
  tanh,
  copysign,
  and_,
  or_,
  xor_,
  not_,
  shl,
  shr,
  popc,
  clz,
  brev,
  bfind,
  bfe,
  bfi,
  prmt,
  lop3,
  shf,
  dp4a,
  dp2a,
  ld_param,
  ld_const,
  ld_nc,  // global memory that nothing writes while the kernel runs
  ld,
  st,
  prefetch,
  atom,
  red,
  fence,
  shfl_sync,
  vote_sync,
  match_sync,
  redux_sync,
  elect_sync,
  activemask,
  bar_sync,
  bar_arrive,
  bar_red,
  bar_warp_sync,
  nanosleep,
  nounroll,  // a pragma at the head of a loop, no instruction
  bra,
  call_vprintf,
  call_assertfail,
  ret,
};

// What stands between the mnemonic and the types: a rounding mode, a comparison, a state space, a scope.
enum class modifier : std::uint8_t {
  none,
  rn,
  rz,
  rm,
  rp,
  rni,
  rzi,
  rmi,
  rpi,
  ftz,
  sat,
  nan,  // a comparison that holds where an operand is NaN
  approx,
  lo,
  hi,
  wide,
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
  all,
  any,
  uni,
  ballot,
  sync,
  l,
  r,
  clamp,
  wrap,
  shiftamt,
  global,
  shared,
  local,
  const_,
  volatile_,
  relaxed,
  acquire,
  release,
  acq_rel,
  sc,
  cta,
  gpu,
  sys,
  cluster,
  nc,
  ca,
  cg,
  cs,
  lu,
  cv,
  wb,
  wt,
  l1,
  l2,
  l1_evict_normal,
  l1_evict_unchanged,
  l1_evict_first,
  l1_evict_last,
  l1_no_allocate,
  l2_64b,
  l2_128b,
  l2_256b,
  v2,
  v4,
  v8,
  add,
  inc,
  dec,
  min,
  max,
  and_,
  or_,
  xor_,
  exch,
  cas,
  popc,
  noftz,
};

// Up to eight modifiers in the order of the text, the first in the lowest byte.
using modifier_list = std::uint64_t;

template <class... M>
constexpr modifier_list in_order(M... modifiers) {
  static_assert(sizeof...(M) <= 8);
  modifier_list list = 0;
  unsigned shift = 0;
  // A modifier that is none takes no place.
  ((modifiers == modifier::none ? void()
                                : void((list |= static_cast<modifier_list>(modifiers) << shift, shift += 8))),
   ...);
  return list;
}

// The list with one more modifier at its end.
constexpr modifier_list append(modifier_list list, modifier m) {
  unsigned shift = 0;
  while ((list >> shift) != 0) shift += 8;
  return list | static_cast<modifier_list>(m) << shift;
}

constexpr bool contains(modifier_list list, modifier m) {
  for (; list != 0; list >>= 8)
    if ((list & 0xff) == static_cast<modifier_list>(m)) return true;
  return false;
}

struct instruction_facts {
  opcode op;
  std::string_view mnemonic;
  isa_version version;  // the first PTX ISA version that has it
  std::uint16_t sm;     // the first architecture that has it
  bool pure;            // its result depends on its operands alone, so it may be shared or removed
};

struct modifier_facts {
  modifier mod;
  std::string_view text;  // with its dot: ".rn"
  isa_version version;
  std::uint16_t sm;
};

// A form of an instruction that is younger than its opcode: with this type first, and this modifier if any.
struct form_facts {
  opcode op;
  type first;
  modifier mod;
  isa_version version;
  std::uint16_t sm;
};

namespace detail {
inline constexpr instruction_facts catalogue[] = {
    {opcode::none, "", {1, 0}, 10, true},
    {opcode::label, "", {1, 0}, 10, false},
    {opcode::mov, "mov", {1, 0}, 10, true},
    {opcode::mov_volatile, "mov", {1, 0}, 10, false},
    {opcode::cvt, "cvt", {1, 0}, 10, true},
    {opcode::selp, "selp", {1, 0}, 10, true},
    {opcode::setp, "setp", {1, 0}, 10, true},
    {opcode::cvta, "cvta", {2, 0}, 20, true},
    {opcode::cvta_to, "cvta.to", {2, 0}, 20, true},
    {opcode::add, "add", {1, 0}, 10, true},
    {opcode::sub, "sub", {1, 0}, 10, true},
    {opcode::mul, "mul", {1, 0}, 10, true},
    {opcode::mad, "mad", {1, 0}, 10, true},
    {opcode::fma, "fma", {1, 4}, 13, true},
    {opcode::div, "div", {1, 0}, 10, true},
    {opcode::rem, "rem", {1, 0}, 10, true},
    {opcode::neg, "neg", {1, 0}, 10, true},
    {opcode::abs, "abs", {1, 0}, 10, true},
    {opcode::min, "min", {1, 0}, 10, true},
    {opcode::max, "max", {1, 0}, 10, true},
    {opcode::sad, "sad", {1, 0}, 10, true},
    {opcode::sqrt, "sqrt", {1, 0}, 10, true},
    {opcode::rcp, "rcp", {1, 0}, 10, true},
    {opcode::rsqrt, "rsqrt", {1, 0}, 10, true},
    {opcode::ex2, "ex2", {1, 0}, 10, true},
    {opcode::lg2, "lg2", {1, 0}, 10, true},
    {opcode::sin, "sin", {1, 0}, 10, true},
    {opcode::cos, "cos", {1, 0}, 10, true},
    {opcode::tanh, "tanh", {7, 0}, 75, true},
    {opcode::copysign, "copysign", {2, 0}, 20, true},
    {opcode::and_, "and", {1, 0}, 10, true},
    {opcode::or_, "or", {1, 0}, 10, true},
    {opcode::xor_, "xor", {1, 0}, 10, true},
    {opcode::not_, "not", {1, 0}, 10, true},
    {opcode::shl, "shl", {1, 0}, 10, true},
    {opcode::shr, "shr", {1, 0}, 10, true},
    {opcode::popc, "popc", {2, 0}, 20, true},
    {opcode::clz, "clz", {2, 0}, 20, true},
    {opcode::brev, "brev", {2, 0}, 20, true},
    {opcode::bfind, "bfind", {2, 0}, 20, true},
    {opcode::bfe, "bfe", {2, 0}, 20, true},
    {opcode::bfi, "bfi", {2, 0}, 20, true},
    {opcode::prmt, "prmt", {2, 0}, 20, true},
    {opcode::lop3, "lop3", {4, 3}, 50, true},
    {opcode::shf, "shf", {3, 1}, 32, true},
    {opcode::dp4a, "dp4a", {5, 0}, 61, true},
    {opcode::dp2a, "dp2a", {5, 0}, 61, true},
    {opcode::ld_param, "ld.param", {1, 0}, 10, true},
    {opcode::ld_const, "ld.const", {1, 0}, 10, true},
    {opcode::ld_nc, "ld.global", {3, 1}, 32, true},
    {opcode::ld, "ld", {1, 0}, 10, false},
    {opcode::st, "st", {1, 0}, 10, false},
    {opcode::prefetch, "prefetch", {2, 0}, 20, false},
    {opcode::atom, "atom", {1, 1}, 11, false},
    {opcode::red, "red", {1, 2}, 11, false},
    {opcode::fence, "fence", {6, 0}, 70, false},
    {opcode::shfl_sync, "shfl.sync", {6, 0}, 30, false},
    {opcode::vote_sync, "vote.sync", {6, 0}, 30, false},
    {opcode::match_sync, "match", {6, 0}, 70, false},
    {opcode::redux_sync, "redux.sync", {7, 0}, 80, false},
    {opcode::elect_sync, "elect.sync", {8, 0}, 90, false},
    {opcode::activemask, "activemask", {6, 2}, 30, false},
    {opcode::bar_sync, "bar.sync", {1, 0}, 10, false},
    {opcode::bar_arrive, "bar.arrive", {2, 0}, 20, false},
    {opcode::bar_red, "bar.red", {2, 0}, 20, false},
    {opcode::bar_warp_sync, "bar.warp.sync", {6, 0}, 30, false},
    {opcode::nanosleep, "nanosleep", {6, 3}, 70, false},
    {opcode::nounroll, ".pragma \"nounroll\"", {2, 0}, 20, false},
    {opcode::bra, "bra", {1, 0}, 10, false},
    {opcode::call_vprintf, "", {2, 0}, 20, false},
    {opcode::call_assertfail, "", {6, 4}, 30, false},
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

inline constexpr modifier_facts modifier_table[] = {
    {modifier::none, "", {1, 0}, 10},
    {modifier::rn, ".rn", {1, 0}, 10},
    {modifier::rz, ".rz", {1, 0}, 10},
    {modifier::rm, ".rm", {1, 0}, 10},
    {modifier::rp, ".rp", {1, 0}, 10},
    {modifier::rni, ".rni", {1, 0}, 10},
    {modifier::rzi, ".rzi", {1, 0}, 10},
    {modifier::rmi, ".rmi", {1, 0}, 10},
    {modifier::rpi, ".rpi", {1, 0}, 10},
    {modifier::ftz, ".ftz", {1, 4}, 20},
    {modifier::sat, ".sat", {1, 0}, 10},
    {modifier::nan, ".nan", {1, 0}, 10},
    {modifier::approx, ".approx", {1, 4}, 10},
    {modifier::lo, ".lo", {1, 0}, 10},
    {modifier::hi, ".hi", {1, 0}, 10},
    {modifier::wide, ".wide", {1, 0}, 10},
    {modifier::eq, ".eq", {1, 0}, 10},
    {modifier::ne, ".ne", {1, 0}, 10},
    {modifier::lt, ".lt", {1, 0}, 10},
    {modifier::le, ".le", {1, 0}, 10},
    {modifier::gt, ".gt", {1, 0}, 10},
    {modifier::ge, ".ge", {1, 0}, 10},
    {modifier::neu, ".neu", {1, 0}, 10},
    {modifier::up, ".up", {1, 0}, 10},
    {modifier::down, ".down", {1, 0}, 10},
    {modifier::bfly, ".bfly", {1, 0}, 10},
    {modifier::idx, ".idx", {1, 0}, 10},
    {modifier::all, ".all", {1, 2}, 12},
    {modifier::any, ".any", {1, 2}, 12},
    {modifier::uni, ".uni", {1, 2}, 12},
    {modifier::ballot, ".ballot", {2, 0}, 20},
    {modifier::sync, ".sync", {6, 0}, 30},
    {modifier::l, ".l", {3, 1}, 32},
    {modifier::r, ".r", {3, 1}, 32},
    {modifier::clamp, ".clamp", {3, 1}, 32},
    {modifier::wrap, ".wrap", {3, 1}, 32},
    {modifier::shiftamt, ".shiftamt", {2, 0}, 20},
    {modifier::global, ".global", {1, 0}, 10},
    {modifier::shared, ".shared", {1, 0}, 10},
    {modifier::local, ".local", {1, 0}, 10},
    {modifier::const_, ".const", {1, 0}, 10},
    {modifier::volatile_, ".volatile", {1, 1}, 10},
    {modifier::relaxed, ".relaxed", {6, 0}, 70},
    {modifier::acquire, ".acquire", {6, 0}, 70},
    {modifier::release, ".release", {6, 0}, 70},
    {modifier::acq_rel, ".acq_rel", {6, 0}, 70},
    {modifier::sc, ".sc", {6, 0}, 70},
    {modifier::cta, ".cta", {6, 0}, 70},
    {modifier::gpu, ".gpu", {6, 0}, 70},
    {modifier::sys, ".sys", {6, 0}, 70},
    {modifier::cluster, ".cluster", {7, 8}, 90},
    {modifier::nc, ".nc", {3, 1}, 32},
    {modifier::ca, ".ca", {2, 0}, 20},
    {modifier::cg, ".cg", {2, 0}, 20},
    {modifier::cs, ".cs", {2, 0}, 20},
    {modifier::lu, ".lu", {2, 0}, 20},
    {modifier::cv, ".cv", {2, 0}, 20},
    {modifier::wb, ".wb", {2, 0}, 20},
    {modifier::wt, ".wt", {2, 0}, 20},
    {modifier::l1, ".L1", {2, 0}, 20},
    {modifier::l2, ".L2", {2, 0}, 20},
    {modifier::l1_evict_normal, ".L1::evict_normal", {7, 4}, 70},
    {modifier::l1_evict_unchanged, ".L1::evict_unchanged", {7, 4}, 70},
    {modifier::l1_evict_first, ".L1::evict_first", {7, 4}, 70},
    {modifier::l1_evict_last, ".L1::evict_last", {7, 4}, 70},
    {modifier::l1_no_allocate, ".L1::no_allocate", {7, 4}, 70},
    {modifier::l2_64b, ".L2::64B", {7, 4}, 75},
    {modifier::l2_128b, ".L2::128B", {7, 4}, 75},
    {modifier::l2_256b, ".L2::256B", {7, 4}, 80},
    {modifier::v2, ".v2", {1, 0}, 10},
    {modifier::v4, ".v4", {1, 0}, 10},
    {modifier::v8, ".v8", {8, 1}, 90},
    {modifier::add, ".add", {1, 1}, 11},
    {modifier::inc, ".inc", {1, 1}, 11},
    {modifier::dec, ".dec", {1, 1}, 11},
    {modifier::min, ".min", {1, 1}, 11},
    {modifier::max, ".max", {1, 1}, 11},
    {modifier::and_, ".and", {1, 1}, 11},
    {modifier::or_, ".or", {1, 1}, 11},
    {modifier::xor_, ".xor", {1, 1}, 11},
    {modifier::exch, ".exch", {1, 1}, 11},
    {modifier::cas, ".cas", {1, 1}, 11},
    {modifier::popc, ".popc", {2, 0}, 20},
    {modifier::noftz, ".noftz", {6, 2}, 60},
};

constexpr bool modifiers_are_in_order() {
  unsigned i = 0;
  for (const modifier_facts& row : modifier_table)
    if (static_cast<unsigned>(row.mod) != i++) return false;
  return i == static_cast<unsigned>(modifier::noftz) + 1;
}
static_assert(modifiers_are_in_order(), "kaio: each modifier needs its row, in the order of the enum");

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
};
}  // namespace detail

constexpr const instruction_facts& facts(opcode op) { return detail::catalogue[static_cast<unsigned>(op)]; }
constexpr const modifier_facts& facts(modifier m) { return detail::modifier_table[static_cast<unsigned>(m)]; }

// The modifier as the text carries it, with its dot: ".rn". Empty for modifier::none.
constexpr std::string_view suffix(modifier m) { return facts(m).text; }

// The least version and architecture that have an instruction in this form.
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
  if (!is_half(first) && op != opcode::atom && op != opcode::red) return;
  for (const form_facts& row : detail::form_table)
    if (row.op == op && row.first == first && (row.mod == modifier::none || contains(modifiers, row.mod)))
      raise(row.version, row.sm);
}

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
