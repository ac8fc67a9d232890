#include "emulator/program/unsupported.hpp"

#include "emulator/program/requirements.hpp"

#include <fmt/format.h>

namespace kaio::emulator {

std::string reason_not_executed(std::string_view opcode, ptx::target target, ptx::isa_version version) {
  if (opcode == "istypep")
    return fmt::format("'{}': variables for textures and surfaces are not supported by the emulator", opcode);
  if (opcode == "tcgen05") return reason_newer(opcode, {100, true}, target);
  std::string reason = fmt::format("'{}' is not an instruction of PTX that the emulator knows", opcode);
  if (newest_known_version < version)
    reason +=
        fmt::format("; it knows instructions up to PTX ISA {}.{}, and the module is .version {}.{}",
                    newest_known_version.major, newest_known_version.minor, version.major, version.minor);
  return reason;
}

std::string reason_newer(std::string_view form, ptx::target first, ptx::target target) {
  if (target.sm >= first.sm) return fmt::format("'{}' is not supported by the emulator", form);
  return fmt::format("'{}' needs .target sm_{}{}, which the emulator does not execute", form, first.sm,
                     first.arch_specific ? "a" : "");
}

}  // namespace kaio::emulator
