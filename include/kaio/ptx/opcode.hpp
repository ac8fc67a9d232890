#pragma once
// The instructions of PTX. Each opcode has a row: its mnemonic, the first PTX ISA version and architecture
// that have it, and whether an optimiser may share or remove it. Source: PTX ISA, "Instruction Set".
//
//   static_assert(kaio::ptx::facts(kaio::ptx::opcode::shfl_sync).version == kaio::ptx::isa_version{6, 0});

#include <kaio/ptx/target.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ptx {

// A name that is a word of C++ has a trailing underscore.
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
  cvta_param,
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
  ldmatrix,
  stmatrix,
  movmatrix,
  mma,
  mma_sp,
  wgmma_fence,
  wgmma_mma_async,
  wgmma_mma_async_sp,
  wgmma_commit_group,
  wgmma_wait_group,
  setmaxnreg,
  cp_async,
  cp_async_commit_group,
  cp_async_wait_group,
  cp_async_wait_all,
  cp_async_mbarrier_arrive,
  cp_async_bulk,
  cp_async_bulk_tensor,
  cp_async_bulk_prefetch,
  cp_async_bulk_prefetch_tensor,
  cp_reduce_async_bulk,
  cp_reduce_async_bulk_tensor,
  cp_async_bulk_commit_group,
  cp_async_bulk_wait_group,
  mbarrier_init,
  mbarrier_inval,
  mbarrier_expect_tx,
  mbarrier_complete_tx,
  mbarrier_arrive,
  mbarrier_arrive_drop,
  mbarrier_test_wait,
  mbarrier_try_wait,
  mbarrier_pending_count,
  fence_proxy,
  fence_mbarrier_init,
  prefetch_tensormap,
  createpolicy,
  barrier_cluster_arrive,
  barrier_cluster_wait,
  mapa,
  getctarank,
  st_async,
  red_async,
  griddepcontrol,
  nanosleep,
  nounroll,  // a pragma at the head of a loop, no instruction
  bra,
  text,       // an instruction that its author wrote as text; the modifiers name the text
  text_pure,  // text whose results depend on its operands alone
  call_vprintf,
  call_assertfail,
  ret,
};

struct instruction_facts {
  opcode op;
  std::string_view mnemonic;
  isa_version version;         // the first PTX ISA version that has it
  std::uint16_t sm;            // the first architecture that has it
  bool pure;                   // its result depends on its operands alone, so it may be shared or removed
  bool arch_specific = false;  // on that architecture alone: `.target sm_90a`
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
    {opcode::cvta_param, "cvta.param", {7, 7}, 70, true},
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
    {opcode::ldmatrix, "ldmatrix.sync.aligned", {6, 5}, 75, false},
    {opcode::stmatrix, "stmatrix.sync.aligned", {7, 8}, 90, false},
    {opcode::movmatrix, "movmatrix.sync.aligned", {7, 8}, 75, false},
    {opcode::mma, "mma.sync.aligned", {6, 4}, 70, false},
    {opcode::mma_sp, "mma.sp::ordered_metadata.sync.aligned", {8, 5}, 80, false},
    {opcode::wgmma_fence, "wgmma.fence.sync.aligned", {8, 0}, 90, false, true},
    {opcode::wgmma_mma_async, "wgmma.mma_async.sync.aligned", {8, 0}, 90, false, true},
    {opcode::wgmma_mma_async_sp, "wgmma.mma_async.sp.sync.aligned", {8, 2}, 90, false, true},
    {opcode::wgmma_commit_group, "wgmma.commit_group.sync.aligned", {8, 0}, 90, false, true},
    {opcode::wgmma_wait_group, "wgmma.wait_group.sync.aligned", {8, 0}, 90, false, true},
    {opcode::setmaxnreg, "setmaxnreg", {8, 0}, 90, false, true},
    {opcode::cp_async, "cp.async", {7, 0}, 80, false},
    {opcode::cp_async_commit_group, "cp.async.commit_group", {7, 0}, 80, false},
    {opcode::cp_async_wait_group, "cp.async.wait_group", {7, 0}, 80, false},
    {opcode::cp_async_wait_all, "cp.async.wait_all", {7, 0}, 80, false},
    {opcode::cp_async_mbarrier_arrive, "cp.async.mbarrier.arrive", {7, 0}, 80, false},
    {opcode::cp_async_bulk, "cp.async.bulk", {8, 0}, 90, false},
    {opcode::cp_async_bulk_tensor, "cp.async.bulk.tensor", {8, 0}, 90, false},
    {opcode::cp_async_bulk_prefetch, "cp.async.bulk.prefetch", {8, 0}, 90, false},
    {opcode::cp_async_bulk_prefetch_tensor, "cp.async.bulk.prefetch.tensor", {8, 0}, 90, false},
    {opcode::cp_reduce_async_bulk, "cp.reduce.async.bulk", {8, 0}, 90, false},
    {opcode::cp_reduce_async_bulk_tensor, "cp.reduce.async.bulk.tensor", {8, 0}, 90, false},
    {opcode::cp_async_bulk_commit_group, "cp.async.bulk.commit_group", {8, 0}, 90, false},
    {opcode::cp_async_bulk_wait_group, "cp.async.bulk.wait_group", {8, 0}, 90, false},
    {opcode::mbarrier_init, "mbarrier.init", {7, 0}, 80, false},
    {opcode::mbarrier_inval, "mbarrier.inval", {7, 0}, 80, false},
    {opcode::mbarrier_expect_tx, "mbarrier.expect_tx", {8, 0}, 90, false},
    {opcode::mbarrier_complete_tx, "mbarrier.complete_tx", {8, 0}, 90, false},
    {opcode::mbarrier_arrive, "mbarrier.arrive", {7, 0}, 80, false},
    {opcode::mbarrier_arrive_drop, "mbarrier.arrive_drop", {7, 0}, 80, false},
    {opcode::mbarrier_test_wait, "mbarrier.test_wait", {7, 0}, 80, false},
    {opcode::mbarrier_try_wait, "mbarrier.try_wait", {7, 8}, 90, false},
    {opcode::mbarrier_pending_count, "mbarrier.pending_count", {7, 0}, 80, false},
    {opcode::fence_proxy, "fence.proxy", {8, 0}, 90, false},
    {opcode::fence_mbarrier_init, "fence.mbarrier_init", {8, 0}, 90, false},
    {opcode::prefetch_tensormap, "prefetch.tensormap", {8, 0}, 90, false},
    {opcode::createpolicy, "createpolicy", {7, 4}, 80, true},
    {opcode::barrier_cluster_arrive, "barrier.cluster.arrive", {7, 8}, 90, false},
    {opcode::barrier_cluster_wait, "barrier.cluster.wait", {7, 8}, 90, false},
    {opcode::mapa, "mapa", {7, 8}, 90, true},
    {opcode::getctarank, "getctarank", {7, 8}, 90, true},
    {opcode::st_async, "st.async", {8, 1}, 90, false},
    {opcode::red_async, "red.async", {8, 1}, 90, false},
    {opcode::griddepcontrol, "griddepcontrol", {7, 8}, 90, false},
    {opcode::nanosleep, "nanosleep", {6, 3}, 70, false},
    {opcode::nounroll, ".pragma \"nounroll\"", {2, 0}, 20, false},
    {opcode::bra, "bra", {1, 0}, 10, false},
    {opcode::text, "", {1, 0}, 10, false},
    {opcode::text_pure, "", {1, 0}, 10, true},
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
}  // namespace detail

constexpr const instruction_facts& facts(opcode op) { return detail::catalogue[static_cast<unsigned>(op)]; }

// Whether the first operand, if it is a register or a pack of them, is the result.
constexpr bool has_result(opcode op) {
  switch (op) {
    case opcode::mov_volatile:
    case opcode::ld:
    case opcode::atom:
    case opcode::shfl_sync:
    case opcode::vote_sync:
    case opcode::match_sync:
    case opcode::redux_sync:
    case opcode::elect_sync:
    case opcode::activemask:
    case opcode::bar_red:
    case opcode::ldmatrix:
    case opcode::movmatrix:
    case opcode::mma:
    case opcode::mma_sp:
    case opcode::wgmma_mma_async:
    case opcode::wgmma_mma_async_sp:
    case opcode::mbarrier_arrive:
    case opcode::mbarrier_arrive_drop:
    case opcode::mbarrier_test_wait:
    case opcode::mbarrier_try_wait:
    case opcode::text: return true;  // an empty pack if it has no result
    default: return facts(op).pure;
  }
}

}  // namespace kaio::ptx
