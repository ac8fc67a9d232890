#pragma once
// A decoded kernel: what the interpreter executes. Names have become places: every register that the kernel
// uses has a row of 32 lanes in the warp's register file. Constants have rows too, so an instruction finds
// all sources in the same way. Labels are indices into the code. Types and modifiers are checked and are
// plain enums.
//
// The register file of a warp (`entry::initial` is its state at the start of a block):
//   row 0: the guard of unguarded instructions (all lanes true) and the row that takes `_`
//   then in the order of first use: registers (zero) and constants (the value in every lane)
// A predicate's row is one 32-bit mask; every other row holds 32 values of the register's width.

#include "emulator/program/scalar.hpp"

#include <kaio/ptx/target.hpp>
#include <kaio/ptx/type.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace kaio::emulator {

struct warp;
struct instruction;

// Executes one instruction for the lanes of `mask`: the active lanes that pass its guard.
using handler = void (*)(warp&, const instruction&, u32 mask);

enum class operation : u8 {
  // moves
  mov,
  pack,
  unpack,
  read_special,
  // integer and floating-point arithmetic; the type selects which
  add,
  sub,
  mul,
  mul_lo,
  mul_hi,
  mul_wide,
  mad_lo,
  mad_hi,
  mad_wide,
  mul24_lo,
  mul24_hi,
  mad24_lo,
  mad24_hi,
  div,
  rem,
  abs,
  neg,
  min,
  max,
  sad,
  fma,
  sqrt,
  rcp,
  rsqrt,
  ex2,
  lg2,
  sin,
  cos,
  tanh,
  copysign,
  testp,
  // bits
  popc,
  clz,
  bfind,
  brev,
  bfe,
  bfi,
  bmsk,
  szext,
  prmt,
  lop3,
  shf_l,
  shf_r,
  dp4a,
  dp2a_lo,
  dp2a_hi,
  and_,
  or_,
  xor_,
  not_,
  cnot,
  shl,
  shr,
  // comparison and conversion
  setp,
  set,
  selp,
  slct,
  cvt,
  cvt_twin,  // two values to a packed pair, or a pair to two
  cvt_tf32,
  cvt_pack,
  // memory
  ld,
  st,
  atom,
  red,
  to_generic,
  from_generic,
  isspacep,
  fence,
  prefetch,
  discard,
  create_policy,
  // system functions
  print,
  assert_fail,
  heap_allocate,
  heap_free,
  // control
  bra,
  exit,
  trap,
  brkpt,
  nop,
  nanosleep,
  // threads of a block and lanes of a warp
  bar_sync,
  bar_arrive,
  bar_red,
  warp_sync,
  shfl,
  vote,
  match,
  activemask,
  redux,
  elect,
  // blocks of a cluster
  mapa,
  getctarank,
  cluster_arrive,
  cluster_wait,
  // calls
  call,
  ret,
  brx,
  alloca_,
  stacksave,
  stackrestore,
  // tensor cores
  mma,
  mma_sparse,
  ldmatrix,
  stmatrix,
  movmatrix,
  wmma_load,
  wmma_store,
  wmma_mma,
  wgmma_mma,
  wgmma_fence,
  wgmma_commit,
  wgmma_wait,
  // asynchronous copies; `form` is the instruction within its family
  cp_async,
  cp_async_group,
  mbarrier,
  bulk,
  bulk_group,
  tensor_copy,
  tensormap,
  async_store,
  async_reduce,
  proxy_fence,
  griddepcontrol,
  setmaxnreg,
  // textures and surfaces; `form` is the geometry
  tex,
  tld4,
  txq,
  suld,
  sust,
  sured,
  // others
  video,
  fns,
  pmevent,
};

enum class state_space : u8 { generic, global, shared, local, constant, param };

// The terms of the memory consistency model for an access or a fence (PTX ISA, "Memory Consistency Model").
enum class memory_order : u8 { weak, is_volatile, relaxed, acquire, release, acq_rel, sc };
enum class memory_scope : u8 { none, cta, cluster, gpu, sys };

enum class rounding : u8 { none, rn, rz, rm, rp, rni, rzi, rmi, rpi, rna };

enum class comparison : u8 { eq, ne, lt, le, gt, ge, lo, ls, hi, hs, equ, neu, ltu, leu, gtu, geu, num, nan };

enum class combination : u8 { none, and_, or_, xor_ };

// The contents of `form` for instructions with one more choice.
enum class atomic_form : u8 { add, min, max, and_, or_, xor_, exch, cas, inc, dec };
enum class mbarrier_form : u8 {
  init,
  inval,
  arrive,
  arrive_no_complete,
  arrive_expect_tx,
  drop,  // arrive_drop
  drop_no_complete,
  drop_expect_tx,
  expect_tx,
  complete_tx,
  test_wait,
  test_wait_parity,
  try_wait,
  try_wait_parity,
  pending_count,
};
enum class copy_group_form : u8 { commit, wait, wait_all, arrive, arrive_noinc };  // for cp.async
enum class grid_dependency_form : u8 { launch_dependents, wait };
enum class bulk_group_form : u8 { commit, wait, wait_read };
enum class tensormap_form : u8 {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  fill_mode,
  cp_fenceproxy,
};
// fence.proxy; `space` is the space that .async is limited to.
enum class proxy_form : u8 { alias, async, tensormap, mbarrier_init, async_restricted, restricted };
// The geometry of an image's coordinates: array_one and array_two take the layer first.
enum class image_geometry : u8 { one, two, three, array_one, array_two };
// What txq and suq ask for.
enum class image_query : u8 {
  width,
  height,
  depth,
  array_size,
  channel_data_type,
  normalized_coords,
  mipmap_levels,
  samples
};
// What a surface access outside the image does: a fault, the nearest texel, or reads zero and writes nothing.
enum class surface_bounds : u8 { trap, clamp, zero };
enum class shuffle_form : u8 { up, down, bfly, idx };
enum class vote_form : u8 { all, any, uni, ballot };
enum class match_form : u8 { any, all };
enum class reduce_form : u8 { add, min, max, and_, or_, xor_, popc };
enum class permute_form : u8 { index, f4e, b4e, rc8, ecl, ecr, rc16 };
// The packed format that cvt reads or writes, other than f16x2 and bf16x2.
enum class twin_form : u8 { none, e4m3x2, e5m2x2 };
enum class test_form : u8 { finite, infinite, number, notanumber, normal, subnormal };
// inserted: a jump that is not in the text; the order of the blocks requires it.
enum class branch_form : u8 { written, inserted };
enum class special_form : u8 {
  // constant while a warp runs
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  zero,
  dynamic_smem_size,
  total_smem_size,
  aggr_smem_size,
  reserved_smem_offset_begin,
  reserved_smem_offset_end,
  reserved_smem_offset_cap,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  grid_workspace_high,  // %envreg1 and %envreg2: address of the grid_workspace of a cooperative grid
  grid_workspace_low,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  // read when the instruction executes
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
};

// Modifiers that are present or absent.
struct instruction_flags {
  bool ftz : 1 = false;
  bool sat : 1 = false;
  bool approx : 1 = false;
  bool full : 1 = false;        // div.full
  bool nan : 1 = false;         // min.NaN
  bool xorsign : 1 = false;     // min.xorsign.abs
  bool carry_in : 1 = false;    // addc
  bool carry_out : 1 = false;   // add.cc
  bool clamp : 1 = false;       // shf.clamp, bmsk.clamp, szext.clamp
  bool shiftamt : 1 = false;    // bfind.shiftamt
  bool weak : 1 = false;        // ld.weak and st.weak
  bool ordered : 1 = false;     // a memory access that other threads may race with: .volatile, .relaxed, ...
  bool has_second : 1 = false;  // a second destination: p|q, d|p
  bool negated : 1 = false;     // the predicate among the sources is !p
  bool counted : 1 = false;     // a barrier with a thread count
  bool relu : 1 = false;
  bool satfinite : 1 = false;
  bool cluster : 1 = false;         // a shared address may be in another block of the cluster
  bool unsynchronised : 1 = false;  // shfl and vote without .sync
  bool aligned : 1 = false;         // a barrier that all lanes of the warp must reach together
  bool read_only : 1 = false;       // ld.nc and ldu: no thread writes this memory while the kernel runs
};

struct instruction {
  handler execute = nullptr;
  u32 guard = 0;              // row of a predicate
  u32 guard_inverted = 0;     // all ones for @!p
  std::array<u32, 8> to{};    // rows of the destinations, or of a store's values
  std::array<u32, 9> from{};  // rows of the sources; a memory access has its address in from[0]
  s64 immediate = 0;          // address offset, lookup table, branch target
  u32 line = 0;               // line number in the text, from 1
  u32 site = 0;               // number of this memory access in the kernel
  u32 uses = 0;               // entry::uses[uses ...]: the registers that it reads, then the written ones
  u16 reads = 0, writes = 0;
  u32 rows = 0;    // entry::rows[rows ...]: operands beyond `to` and `from`, such as matrix fragments
  u32 detail = 0;  // index in its family's table in the entry
  operation op = operation::nop;
  ptx::type type = ptx::type::none;
  ptx::type source_type = ptx::type::none;
  u8 to_bytes = 0;    // width of the destination's register (or of a store's source)
  u8 from_bytes = 0;  // width of the source's register; for an address: 4 or 8
  u8 count = 1;       // elements of a vector
  rounding round = rounding::none;
  comparison compare = comparison::eq;
  combination combine = combination::none;
  u8 form = 0;
  state_space space = state_space::generic;
  memory_order order = memory_order::weak;
  memory_scope scope = memory_scope::none;
  instruction_flags flags;
};

// A place in memory, for instructions that name several.
struct address_operand {
  s64 offset = 0;
  u32 row = 0;   // the address
  u32 site = 0;  // number of this memory access in the kernel
  u8 bytes = 0;  // width of the address: 4 or 8; 0: the offset alone
  state_space space = state_space::generic;
  bool cluster = false;  // a shared address may be in another block of the cluster
};

// The operands of an asynchronous copy: instruction::detail is its number in entry::transfers.
struct transfer_operands {
  address_operand to, from, barrier;
  atomic_form reduction = atomic_form::add;
  bool reduces = false;
  bool prefetches = false;  // nothing is written
  bool multicast = false;
  bool im2col = false;
  u8 dimensions = 0;  // rank of the tensor
};

// The rest of an instruction on an image: instruction::detail is its number in entry::image_accesses.
struct image_operands {
  u32 coordinates = 0;  // entry::rows[instruction::rows ...]: this many, the layer first
  u32 resident = 0;     // row of the predicate if flags.has_second
  u8 component = 0;     // for tld4
  image_query query = image_query::width;
  bool of_surface = false;  // suq
  surface_bounds bounds = surface_bounds::trap;
  atomic_form reduction = atomic_form::add;
};

// A special register that the kernel reads. Its row is filled when a warp starts.
struct special_row {
  special_form which;
  u32 row;
  u32 bytes;  // bytes per lane
};

// A constant row with the address of a module's variable, known once the module is in a memory.
struct relocation {
  u32 row;
  u32 variable;  // index in decoded_module::variables
  u64 addend;
  bool generic;  // as a generic address
};

// The place of a parameter or variable in its state space.
struct layout {
  std::string name;
  u64 offset = 0;  // bytes
  u64 bytes = 0;
  u32 alignment = 1;
};

// ---- functions ----
// A kernel is decoded with all functions that it may call: their code precedes the kernel's, their registers
// have their own rows, and their .param and .local variables are in frames of the thread's local memory. A
// frame begins with the function's results and parameters in declaration order, so a call through a pointer
// finds them. A called function's frame begins where its caller's ends.

inline constexpr u32 no_function = 0xffffffffu;
inline constexpr u32 no_row = 0xffffffffu;

// The contents of `form` for operation::call. enter: the start of a function with register parameters.
enum class call_form : u8 { direct, indirect, enter };

// An argument or result of a call: bytes of a frame, and their place in the caller (or in a function with
// register parameters), which is a register or its own frame.
struct transfer {
  u32 row = no_row;     // the register
  u32 row_bytes = 0;    // bytes per lane of the row; 0: a predicate
  u32 place = 0;        // in the caller's frame, if there is no row
  u32 frame_place = 0;  // in the called function's frame
  u32 bytes = 0;
};

// A row that a call saves lane by lane, because the calling function may run again meanwhile.
struct kept_row {
  u32 row;
  u32 bytes;  // per lane; 0: a predicate
};

struct callable {
  std::string name;
  u32 number = 0;                             // the function's index in the module, which gives its address
  u32 start = 0;                              // index in the code
  u32 frame_bytes = 0;                        // with results and parameters
  u64 signature = 0;                          // equal for functions that can be called in the same way
  std::vector<transfer> parameters, results;  // the ones in registers of the function
  std::vector<kept_row> kept;                 // saved by calls that may re-enter the function
};

struct call_site {
  u32 function = no_function;  // index in entry::functions; none: from[0] holds the address
  u32 base_row = no_row;       // the new frame is at `base` plus this row's value, if there is a row
  u32 base = 0;
  u64 signature = 0;
  std::vector<transfer> arguments, results;
  u32 keeper = no_function;  // the calling function, if it may run again before this call returns
  std::vector<u32> targets;  // .calltargets: function indices; empty: any
};

// A function's address comes from its number, so it is the same in every kernel of a module.
inline constexpr u64 code_window = u64{1} << 48;
inline constexpr u64 code_step = 16;

// Where the text takes the address of a variable in shared or local memory: a row that holds the address plus
// a constant, or an access in the variable, by its site. The sanitizer follows the row.
struct known_address {
  u32 row = no_row;
  u32 site = 0;  // if there is no row
  state_space space = state_space::shared;
  u64 offset = 0, bytes = 0;  // the variable

  bool same_variable(const known_address& b) const {
    return space == b.space && offset == b.offset && bytes == b.bytes;
  }
};

struct entry {
  std::string name;
  u32 line = 0;
  std::vector<layout> parameters;
  u32 parameter_bytes = 0;
  u32 registers = 0;              // registers that the kernel uses
  u32 shared_bytes = 0;           // static
  u32 dynamic_shared_offset = 0;  // where `.extern .shared` arrays begin
  u32 local_bytes = 0;            // per thread
  u32 sites = 0;
  ptx::dim3 maximum_threads{0, 0, 0};   // .maxntid; 0: not given
  ptx::dim3 required_threads{0, 0, 0};  // .reqntid; 0: not given
  ptx::dim3 required_cluster{0, 0, 0};  // .reqnctapercluster; 0: not given
  bool explicit_cluster = false;        // .explicitcluster, or a required one
  // Its blocks can observe each other's order: through an atomic's result, a rounded sum or a flag in memory.
  // Such a grid runs in one fixed order, so its results do not depend on the machine.
  bool blocks_communicate = false;
  // Its threads may wait in a loop for other threads of the block, for example for a phase of an mbarrier.
  bool may_spin = false;
  std::vector<instruction> code;
  std::vector<u32> uses;  // numbers of registers: see instruction::uses
  std::vector<u32> rows;  // see instruction::rows
  std::vector<transfer_operands> transfers;
  std::vector<image_operands> image_accesses;
  std::vector<u32> register_rows;  // row of each register, by its number
  std::vector<std::string> register_names;
  std::vector<std::byte> initial;
  std::vector<special_row> specials;
  std::vector<relocation> relocations;
  std::vector<layout> shared, local;
  std::vector<known_address> known_addresses;
  u32 carry = 0;           // row of the condition code
  bool allocates = false;  // it calls malloc or free
  u32 start = 0;           // index of the kernel's first instruction
  u32 frame_row = no_row;  // start of the running function's frame; no row: there are no functions
  std::vector<callable> functions;
  std::vector<call_site> calls;     // instruction::detail of a call
  std::vector<u32> branch_targets;  // for brx: instruction::detail is the first, `rows` the count
};

// A variable of the module in .global or .const memory.
struct variable {
  layout where;
  state_space space = state_space::global;
  bool external = false;
  bool managed = false;            // .attribute(.managed): the host uses it at its address
  std::vector<std::byte> initial;  // its first bytes; the rest is zero
  struct address_value {
    u64 offset;  // offset of the 64-bit slot in the variable
    u32 variable;
    u64 addend;
    bool generic;
    u32 bytes = 8;  // bytes of the slot
    u32 shift = 0;  // the slot takes the address from this bit on
  };
  std::vector<address_value> addresses;
};

struct decoded_module {
  ptx::isa_version version;
  ptx::target target;
  std::vector<entry> entries;
  std::vector<variable> variables;
  u32 constant_bytes = 0;
};

}  // namespace kaio::emulator
