#pragma once
// A PTX kernel as data: one record an instruction, with its types, operands and the C++ statement that it
// came from, beside the registers, parameters and shared arrays that it uses. The language writes one while
// the compiler runs; everything else (the text, the needs, the listing) is read from it.
//
//   static_assert(requirements(my_program).shared_bytes == 128);

#include <kaio/ptx/catalogue.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/ptx/type.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::ptx {

// The register classes, as a kernel declares them: `.reg .f32 %f<9>;`
enum class register_class : std::uint8_t { pred, b16, b32, b64, f32, f64 };
inline constexpr std::size_t register_classes = 6;

constexpr register_class class_of(type t) {
  if (t == type::pred) return register_class::pred;
  if (t == type::f32) return register_class::f32;
  if (t == type::f64) return register_class::f64;
  return size_of(t) == 8 ? register_class::b64 : size_of(t) == 4 ? register_class::b32 : register_class::b16;
}

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
};

enum class operand_kind : std::uint8_t {
  none,
  reg,             // index: the register, numbered within its class
  immediate,       // bits: the value of `type`
  special,         // index: a special_register
  address,         // [register index + bits], bits a signed offset in bytes
  shared_address,  // [shared array index + bits]
  parameter,       // [parameter index]
  shared_symbol,   // shared array index, its address as a value
  label,           // label index
  pack,            // {the next `index` operands}
};

struct operand {
  operand_kind kind = operand_kind::none;
  ptx::type type = type::none;
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
};

struct instruction {
  opcode op = opcode::none;
  modifier mod = modifier::none;
  type type0 = type::none;  // the suffixes after the mnemonic, in order
  type type1 = type::none;
  std::uint8_t operand_count = 0;
  bool guarded = false;        // @%p: the guard is the operand after the counted ones
  bool guard_negated = false;  // @!%p
  std::uint16_t statement = 0;
  std::uint32_t first_operand = 0;  // in program::operands; the destination first
};

struct shared_array {
  std::uint32_t bytes = 0;
  std::uint32_t alignment = 0;
};

// The arrays are as large as the largest kernel may be; a compiler pays for the part that is filled.
struct program {
  static constexpr std::uint32_t max_instructions = 8192;
  static constexpr std::uint32_t max_operands = 4 * max_instructions;
  static constexpr std::uint32_t max_statements = 8192;
  static constexpr std::uint32_t max_shared_arrays = 64;

  instruction instructions[max_instructions] = {};
  std::uint32_t instruction_count = 0;
  operand operands[max_operands] = {};
  std::uint32_t operand_count = 0;
  source_line statements[max_statements] = {};
  std::uint32_t statement_count = 0;
  shared_array shared[max_shared_arrays] = {};
  std::uint32_t shared_count = 0;
  std::uint32_t registers[register_classes] = {};  // how many of each class, numbered from 1
  dim3 block;
  ptx::target target = oldest_target;  // claimed by the author; the needs may raise it
};

// Bytes of static shared memory with the padding that the alignments cost.
constexpr std::uint32_t shared_bytes(const program& p) {
  std::uint32_t bytes = 0;
  for (std::uint32_t i = 0; i < p.shared_count; ++i) {
    const std::uint32_t alignment = p.shared[i].alignment;
    bytes = (bytes + alignment - 1) / alignment * alignment + p.shared[i].bytes;
  }
  return bytes;
}

// What the program asks of the machine: the least target and version that have every instruction in it.
constexpr needs requirements(const program& p) {
  needs result;
  result.target = p.target;
  for (std::uint32_t i = 0; i < p.instruction_count; ++i) {
    const opcode op = p.instructions[i].op;
    if (op == opcode::none || op == opcode::label) continue;
    const instruction_facts& row = facts(op);
    if (result.version < row.version) result.version = row.version;
    if (result.target.sm < row.sm) result.target.sm = row.sm;
    ++result.instructions;
  }
  const isa_version first = first_version(result.target);
  if (result.version < first) result.version = first;
  result.shared_bytes = shared_bytes(p);
  result.max_threads = static_cast<std::uint32_t>(p.block.count());
  return result;
}

}  // namespace kaio::ptx
