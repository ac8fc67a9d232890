#pragma once
// Special registers as operands: which exist, since which PTX ISA version and architecture, and how an
// instruction reads one. If a register does not change while a warp runs, it has a row of the register file,
// filled when the warp starts. An instruction of its own reads any other. Source: PTX ISA, "Special
// Registers".
//
//   if (const auto special = special_operand(f, f.operand(1))) return move_special(f, *special);

#include "emulator/decode/instruction_decoder.hpp"

#include <array>
#include <optional>

namespace kaio::emulator {

struct special_use {
  special_form form;
  unsigned bytes;           // 0: a predicate
  bool whole = false;       // %tid without .x: four elements
  bool short_form = false;  // may be read as 16 bits, as in PTX 1.x
};

// True if a name is a special register's, unless the text declares it.
bool is_special(std::string_view name);

// The special register that an operand names; nothing if it names anything else.
std::optional<special_use> special_operand(instruction_decoder& f, const syntax::operand& o);

// The row that holds its value when the current instruction executes.
u32 special_source(instruction_decoder& f, const special_use& special);

// mov with a special register as its second operand.
void move_special(instruction_decoder& f, const special_use& special);

// The rows of the elements of a whole register, such as %tid; `bytes` each.
std::array<u32, 4> special_elements(instruction_decoder& f, const special_use& special, unsigned bytes);

}  // namespace kaio::emulator
