#pragma once
// The modifiers of PTX instructions: the words between the mnemonic and the types. Each row has the first
// version and architecture with the word. Source: PTX ISA, "Instruction Set".
//
//   static_assert(kaio::ptx::suffix(kaio::ptx::modifier::rn) == ".rn");

#include <kaio/ptx/target.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ptx {

// A word between the mnemonic and the types: a rounding mode, a comparison, a state space, a scope.
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
  rna,  // to nearest, ties away from zero
  ftz,
  sat,
  nan,  // a comparison that holds if an operand is NaN
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
  x1,
  x2,
  x4,
  trans,
  m8n8,
  row,
  col,
  satfinite,
  inc_sync_aligned,
  dec_sync_aligned,
  shared_cta,
  shared_cluster,
  noinc,
  l2_cache_hint,
  d1,
  d2,
  d3,
  d4,
  d5,
  tile,
  im2col,
  complete_tx_bytes,
  bulk_group,
  multicast_cluster,
  read,
  expect_tx,
  no_complete,
  parity,
  async,
  alias,
  aligned,
  fractional,
  range,
  l2_evict_last,
  l2_evict_normal,
  l2_evict_first,
  l2_evict_unchanged,
  launch_dependents,
  wait,
  xor_popc,
  and_popc,
  u8,
  s8,
  u4,
  s4,
  b1,
  f16,
  bf16,
  tf32,
  e4m3,
  e5m2,
  f32,
  f64,
  s32,
  f16x2,
  bf16x2,
  e4m3x2,
  e5m2x2,
  relu,
  b16,
  nan_wins,  // of min and max: a NaN operand is the result
};

// Up to eight modifiers in the order of the text, the first in the lowest byte.
using modifier_list = std::uint64_t;

template <class... M>
constexpr modifier_list in_order(M... modifiers) {
  static_assert(sizeof...(M) <= 8);
  modifier_list list = 0;
  unsigned shift = 0;
  // modifier::none takes no place.
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

struct modifier_facts {
  modifier mod;
  std::string_view text;  // with its dot: ".rn"
  isa_version version;
  std::uint16_t sm;
};

namespace detail {
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
    {modifier::rna, ".rna", {7, 0}, 80},
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
    {modifier::x1, ".x1", {6, 5}, 75},
    {modifier::x2, ".x2", {6, 5}, 75},
    {modifier::x4, ".x4", {6, 5}, 75},
    {modifier::trans, ".trans", {6, 5}, 75},
    {modifier::m8n8, ".m8n8", {6, 5}, 75},
    {modifier::row, ".row", {6, 4}, 70},
    {modifier::col, ".col", {6, 4}, 70},
    {modifier::satfinite, ".satfinite", {6, 4}, 70},
    {modifier::inc_sync_aligned, ".inc.sync.aligned", {8, 0}, 90},
    {modifier::dec_sync_aligned, ".dec.sync.aligned", {8, 0}, 90},
    {modifier::shared_cta, ".shared::cta", {7, 8}, 30},
    {modifier::shared_cluster, ".shared::cluster", {7, 8}, 90},
    {modifier::noinc, ".noinc", {7, 0}, 80},
    {modifier::l2_cache_hint, ".L2::cache_hint", {7, 4}, 80},
    {modifier::d1, ".1d", {8, 0}, 90},
    {modifier::d2, ".2d", {8, 0}, 90},
    {modifier::d3, ".3d", {8, 0}, 90},
    {modifier::d4, ".4d", {8, 0}, 90},
    {modifier::d5, ".5d", {8, 0}, 90},
    {modifier::tile, ".tile", {8, 0}, 90},
    {modifier::im2col, ".im2col", {8, 0}, 90},
    {modifier::complete_tx_bytes, ".mbarrier::complete_tx::bytes", {8, 0}, 90},
    {modifier::bulk_group, ".bulk_group", {8, 0}, 90},
    {modifier::multicast_cluster, ".multicast::cluster", {8, 0}, 90},
    {modifier::read, ".read", {8, 0}, 90},
    {modifier::expect_tx, ".expect_tx", {8, 0}, 90},
    {modifier::no_complete, ".noComplete", {7, 0}, 80},
    {modifier::parity, ".parity", {7, 1}, 80},
    {modifier::async, ".async", {8, 0}, 90},
    {modifier::alias, ".alias", {7, 5}, 70},
    {modifier::aligned, ".aligned", {7, 8}, 90},
    {modifier::fractional, ".fractional", {7, 4}, 80},
    {modifier::range, ".range", {7, 4}, 80},
    {modifier::l2_evict_last, ".L2::evict_last", {7, 4}, 80},
    {modifier::l2_evict_normal, ".L2::evict_normal", {7, 4}, 80},
    {modifier::l2_evict_first, ".L2::evict_first", {7, 4}, 80},
    {modifier::l2_evict_unchanged, ".L2::evict_unchanged", {7, 4}, 80},
    {modifier::launch_dependents, ".launch_dependents", {7, 8}, 90},
    {modifier::wait, ".wait", {7, 8}, 90},
    {modifier::xor_popc, ".xor.popc", {7, 0}, 75},
    {modifier::and_popc, ".and.popc", {7, 1}, 80},
    {modifier::u8, ".u8", {1, 0}, 10},
    {modifier::s8, ".s8", {1, 0}, 10},
    {modifier::u4, ".u4", {6, 5}, 75},
    {modifier::s4, ".s4", {6, 5}, 75},
    {modifier::b1, ".b1", {7, 0}, 75},
    {modifier::f16, ".f16", {1, 0}, 10},
    {modifier::bf16, ".bf16", {7, 0}, 80},
    {modifier::tf32, ".tf32", {7, 0}, 80},
    {modifier::e4m3, ".e4m3", {8, 0}, 89},
    {modifier::e5m2, ".e5m2", {8, 0}, 89},
    {modifier::f32, ".f32", {1, 0}, 10},
    {modifier::f64, ".f64", {1, 0}, 10},
    {modifier::s32, ".s32", {1, 0}, 10},
    {modifier::f16x2, ".f16x2", {1, 0}, 10},
    {modifier::bf16x2, ".bf16x2", {7, 0}, 80},
    {modifier::e4m3x2, ".e4m3x2", {8, 1}, 89},
    {modifier::e5m2x2, ".e5m2x2", {8, 1}, 89},
    {modifier::relu, ".relu", {7, 0}, 80},
    {modifier::b16, ".b16", {1, 0}, 10},
    {modifier::nan_wins, ".NaN", {7, 0}, 80},
};

constexpr bool modifiers_are_in_order() {
  unsigned i = 0;
  for (const modifier_facts& row : modifier_table)
    if (static_cast<unsigned>(row.mod) != i++) return false;
  return i == static_cast<unsigned>(modifier::nan_wins) + 1;
}
static_assert(modifiers_are_in_order(), "kaio: each modifier needs its row, in the order of the enum");
}  // namespace detail

constexpr const modifier_facts& facts(modifier m) { return detail::modifier_table[static_cast<unsigned>(m)]; }

// The modifier as the text carries it, with its dot: ".rn". Empty for modifier::none.
constexpr std::string_view suffix(modifier m) { return facts(m).text; }

}  // namespace kaio::ptx
