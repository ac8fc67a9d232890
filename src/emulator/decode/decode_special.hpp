#pragma once
// Special registers as operands: which there are, from which PTX ISA version and architecture on, and how an
// instruction reads one. Those that do not change while a warp runs have a row of the register file that is
// filled when it starts; the others are read by an instruction of their own. Source: PTX ISA, "Special
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

// Whether a name is that of a special register, unless the text declares it.
bool is_special(std::string_view name);

// The special register that an operand names; nothing if it names something else.
std::optional<special_use> special_operand(instruction_decoder& f, const syntax::operand& o);

// The row that holds its value when the instruction that is being decoded executes.
u32 special_source(instruction_decoder& f, const special_use& special);

// mov with a special register as its second operand.
void move_special(instruction_decoder& f, const special_use& special);

// The rows of the elements of a whole register, as %tid, each of `bytes`.
std::array<u32, 4> special_elements(instruction_decoder& f, const special_use& special, unsigned bytes);

}  // namespace kaio::emulator
