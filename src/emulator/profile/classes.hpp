#pragma once
// The instruction classes of a profile's sums: the part of a multiprocessor that an instruction keeps busy.
//
//   class_of(i) == instruction_class::global_load

#include "emulator/program/program.hpp"

#include <array>
#include <string_view>

namespace kaio::emulator::profile {

enum class instruction_class : u8 {
  integer,
  f32,
  f64,
  half,
  approximate,  // special functions
  conversion,
  move,
  comparison,
  tensor,
  global_load,
  global_store,
  shared_load,
  shared_store,
  local,
  constant,
  parameter,
  generic,  // a load or store whose space depends on the address
  atomic,
  asynchronous,
  fence,
  barrier,
  warp,
  control,
  other,
};

inline constexpr std::size_t instruction_classes = static_cast<std::size_t>(instruction_class::other) + 1;

instruction_class class_of(const instruction& i);
// The name in reports: "global load".
std::string_view name_of(instruction_class c);

}  // namespace kaio::emulator::profile
