#pragma once
// The first PTX ISA version and architecture of each instruction and form that the decoder accepts. Source:
// PTX ISA, the "PTX ISA Notes" and "Target ISA Notes" of each instruction. Features older than PTX ISA 2.0
// and sm_20 need no row.

#include "emulator/program/scalar.hpp"

#include <kaio/ptx/target.hpp>

#include <string_view>

namespace kaio::emulator {

// The newest PTX ISA whose texts were compared with ptxas. Newer texts are read too; only their new instructions
// are unknown.
inline constexpr ptx::isa_version newest_known_version{9, 5};

struct requirement {
  std::string_view feature;  // its name in a rejection: "shfl.sync", ".nc"
  ptx::isa_version version;
  unsigned sm;
};

// The row of a feature; nullptr if it is as old as PTX 2.0.
const requirement* find_requirement(std::string_view feature);

}  // namespace kaio::emulator
