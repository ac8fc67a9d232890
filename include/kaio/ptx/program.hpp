#pragma once
// A PTX kernel as data: one record for each instruction with its types, operands and C++ statement. It also
// has the registers, parameters and arrays of the kernel. The language writes one while the compiler runs;
// everything else (the text, the needs, the listing) is read from it.
//
//   static_assert(requirements(my_program).shared_bytes == 128);

#include <kaio/ptx/catalogue.hpp>
#include <kaio/ptx/instruction_text.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/ptx/matrix.hpp>
#include <kaio/ptx/type.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::ptx {

// The register classes, as a kernel declares them: `.reg .f32 %f<9>;`
enum class register_class : std::uint8_t { pred, b16, b32, b64, f32, f64 };
inline constexpr std::size_t register_classes = 6;

namespace detail {
inline constexpr register_class class_table[] = {
    register_class::b32, register_class::pred, register_class::b32, register_class::b16, register_class::b32,
    register_class::b64, register_class::b32,  register_class::b32, register_class::b32, register_class::b32,
    register_class::b64, register_class::b32,  register_class::b32, register_class::b32, register_class::b64,
    register_class::b16, register_class::b32,  register_class::b16, register_class::b32, register_class::f32,
    register_class::f64,
};
static_assert(sizeof(class_table) / sizeof(register_class) == static_cast<unsigned>(type::f64) + 1,
              "kaio: each type needs its class, in the order of the enum");
}  // namespace detail

// Integers of 8 and 16 bits are kept in 32-bit registers, sign- or zero-extended: PTX computes in 32 bits
// anyway.
constexpr register_class class_of(type t) { return detail::class_table[static_cast<unsigned>(t)]; }

enum class special_register : std::uint8_t {
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
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  dynamic_smem_size,
  total_smem_size,
  clock,
  clock64,
  globaltimer,
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
};
// The special registers of clusters. Source: PTX ISA, "Special Registers": PTX ISA 7.8, sm_90.
constexpr bool is_of_cluster(special_register r) { return r >= special_register::clusterid_x; }

enum class operand_kind : std::uint8_t {
  none,
  reg,               // index: the register
  registers,         // {registers index, index + 1, ..., `bits` of them}
  immediate,         // bits: the value of `type`
  special,           // index: a special_register
  address,           // [register index + bits], bits a signed offset in bytes
  symbol_address,    // [array index + bits]
  parameter,         // [parameter index + bits]
  symbol,            // array index, its address as a value
  label,             // label index
  pack,              // {the next `index` operands}
  pair,              // the next two operands, joined: %p1|%p2
  bracket,           // [the next `index` operands]: a tensor and its coordinates
  parameter_symbol,  // parameter index, its address as a value
  sink,              // _: a result that is not used
};

struct operand {
  operand_kind kind = operand_kind::none;
  ptx::type type = type::none;
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
};

struct instruction {
  opcode op = opcode::none;
  modifier_list modifiers = 0;
  type type0 = type::none;  // the suffixes after the mnemonic, in order
  type type1 = type::none;
  std::uint8_t operand_count = 0;
  bool guarded = false;        // @%p: the guard is the operand after the counted ones
  bool guard_negated = false;  // @!%p
  std::uint16_t statement = 0;
  std::uint32_t first_operand = 0;  // in program::operands; the destination first
  matrix_shape shape;               // precedes the modifiers
};

// The place of an array of the kernel. The dynamic part of shared memory begins with the arrays of a kernel
// with large shared memory. Memory that a launch adds is after them. The text of an instruction is in no
// memory.
enum class array_space : std::uint8_t {
  shared,
  large_shared,
  dynamic_shared,
  local,
  constant,
  global,
  instruction_text
};

struct memory_array {
  array_space space = array_space::shared;
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 0;
  std::uint32_t first_word = 0;  // constant, global, instruction_text: its contents in program::data
};

// The arrays are large enough for the largest kernel; a compiler pays for the filled part only.
struct program {
  static constexpr std::uint32_t max_instructions = 8192;
  static constexpr std::uint32_t max_operands = 4 * max_instructions;
  static constexpr std::uint32_t max_statements = 8192;
  static constexpr std::uint32_t max_arrays = 64;
  static constexpr std::uint32_t max_data_words = 1024;
  static constexpr std::uint32_t max_registers = max_instructions + 4096;

  instruction instructions[max_instructions] = {};
  std::uint32_t instruction_count = 0;
  operand operands[max_operands] = {};
  std::uint32_t operand_count = 0;
  source_line statements[max_statements] = {};
  std::uint32_t statement_count = 0;
  memory_array arrays[max_arrays] = {};
  std::uint32_t array_count = 0;
  std::uint64_t data[max_data_words] = {};
  std::uint32_t data_words = 0;
  std::uint32_t registers[register_classes] = {};         // how many of each class there are
  std::uint32_t register_number[max_registers + 1] = {};  // of a register: within its class, from 1
  dim3 block;
  ptx::target target = oldest_target;  // claimed by the author; the needs may raise it
  bool cooperative = false;            // has a barrier of the whole grid
  dim3 cluster = {0, 0, 0};            // blocks of a cluster, fixed by the author; no blocks: not fixed
  std::uint32_t min_blocks = 0;        // resident on a multiprocessor at once; 0: not stated
};

constexpr std::uint32_t aligned(std::uint32_t bytes, std::uint32_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Bytes of the arrays of one space before array `end`, with the padding that their alignments cost.
constexpr std::uint32_t bytes_before(const program& p, array_space space, std::uint32_t end) {
  std::uint32_t bytes = 0;
  for (std::uint32_t i = 0; i < end; ++i)
    if (p.arrays[i].space == space) bytes = aligned(bytes, p.arrays[i].alignment) + p.arrays[i].bytes;
  return bytes;
}

constexpr std::uint32_t bytes_of(const program& p, array_space space) {
  return bytes_before(p, space, p.array_count);
}

constexpr bool has(const program& p, array_space space) {
  for (std::uint32_t i = 0; i < p.array_count; ++i)
    if (p.arrays[i].space == space) return true;
  return false;
}

// The dynamic part is aligned for the memory that a launch adds, or more if an array needs more.
inline constexpr std::uint32_t least_dynamic_alignment = 128;
constexpr std::uint32_t dynamic_shared_alignment(const program& p) {
  std::uint32_t alignment = least_dynamic_alignment;
  for (std::uint32_t i = 0; i < p.array_count; ++i)
    if (p.arrays[i].space == array_space::large_shared && p.arrays[i].alignment > alignment)
      alignment = p.arrays[i].alignment;
  return alignment;
}

// Where an array of the dynamic part of shared memory begins.
constexpr std::uint32_t dynamic_offset(const program& p, std::uint32_t array) {
  const memory_array& a = p.arrays[array];
  if (a.space == array_space::dynamic_shared)
    return aligned(bytes_of(p, array_space::large_shared), least_dynamic_alignment);
  return aligned(bytes_before(p, array_space::large_shared, array), a.alignment);
}

// The modifiers of opcode::text and opcode::text_pure are the number of the array with their text.
constexpr const memory_array& text_of(const program& p, const instruction& i) {
  return p.arrays[i.modifiers];
}

constexpr char text_character(const program& p, const memory_array& text, std::uint32_t k) {
  return static_cast<char>(p.data[text.first_word + 1 + k / 8] >> 8 * (k % 8) & 0xff);
}

constexpr void raise_to_text(const program& p, const instruction& i, needs& n) {
  const text_needs of_text = text_needs::of(p.data[text_of(p, i).first_word]);
  if (n.version < of_text.version) n.version = of_text.version;
  if (n.target.sm < of_text.sm) n.target.sm = of_text.sm;
  if (of_text.arch_specific) n.target.arch_specific = true;
}

// The least target and version that have every instruction of the program, and its other needs.
constexpr needs requirements(const program& p) {
  // The last form seen of each opcode: most instructions of a kernel add no need.
  struct form {
    modifier_list modifiers;
    type first;
    matrix_shape shape;
  };
  form seen[static_cast<unsigned>(opcode::ret) + 1] = {};
  bool is_seen[static_cast<unsigned>(opcode::ret) + 1] = {};
  needs result;
  result.target = p.target;
  for (std::uint32_t i = 0; i < p.instruction_count; ++i) {
    const instruction it = p.instructions[i];
    const auto op = static_cast<unsigned>(it.op);
    if (it.op == opcode::none || it.op == opcode::label) continue;
    if (it.op != opcode::nounroll) ++result.instructions;
    if (it.op == opcode::mov) {
      const operand& from = p.operands[it.first_operand + 1];
      if (from.kind == operand_kind::special && is_of_cluster(static_cast<special_register>(from.index)))
        raise_to(opcode::mapa, 0, type::none, result.version, result.target.sm);
    }
    if (is_seen[op]) {
      const form last = seen[op];
      if (last.modifiers == it.modifiers && last.first == it.type0 && last.shape == it.shape) continue;
    }
    is_seen[op] = true;
    seen[op] = {it.modifiers, it.type0, it.shape};
    if (it.op == opcode::text || it.op == opcode::text_pure) {
      raise_to_text(p, it, result);
      continue;
    }
    raise_to(it.op, it.modifiers, it.type0, result.version, result.target.sm);
    raise_to_matrix(it.op, it.modifiers, it.shape, result.version, result.target.sm);
    if (facts(it.op).arch_specific) result.target.arch_specific = true;
    if (it.op == opcode::call_vprintf) result.prints = true;
    if (it.op == opcode::call_assertfail) result.asserts = true;
    if (it.op == opcode::griddepcontrol && contains(it.modifiers, modifier::wait))
      result.waits_for_grids = true;
  }
  if (p.cluster.count() != 0 && result.target.sm < 90) result.target.sm = 90;
  const isa_version first = first_version(result.target);
  if (result.version < first) result.version = first;
  result.shared_bytes = bytes_of(p, array_space::shared);
  result.dynamic_shared_bytes = bytes_of(p, array_space::large_shared);
  result.cooperative = p.cooperative;
  result.cluster = p.cluster;
  result.max_threads = static_cast<std::uint32_t>(p.block.count());
  return result;
}

}  // namespace kaio::ptx
