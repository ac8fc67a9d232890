#pragma once
// Which PTX ISA version and which architecture first have an instruction or one of its forms, for everything
// that the decoder accepts. Source: PTX ISA, the "PTX ISA Notes" and "Target ISA Notes" of each instruction.
// Everything older than PTX ISA 2.0 and sm_20 needs no row.

#include "emulator/program/scalar.hpp"

#include <kaio/ptx/target.hpp>

#include <string_view>

namespace kaio::emulator {

// The newest PTX ISA whose texts were compared with ptxas. A text of a newer one is read all the same: only what
// it has of new instructions is not known.
inline constexpr ptx::isa_version newest_known_version{9, 5};

struct requirement {
  std::string_view feature;  // as it is called in a rejection: "shfl.sync", ".nc"
  ptx::isa_version version;
  unsigned sm;
};

// The row of a feature; nullptr where it is as old as PTX 2.0.
const requirement* find_requirement(std::string_view feature);

}  // namespace kaio::emulator
