#include "emulator/program/unsupported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace kaio::emulator {
namespace {

constexpr std::string_view of_textures[] = {"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"};
constexpr std::string_view of_sm_100[] = {"tcgen05", "clusterlaunchcontrol"};

template <std::size_t Count>
bool is_one_of(std::string_view opcode, const std::string_view (&list)[Count]) {
  return std::find(std::begin(list), std::end(list), opcode) != std::end(list);
}

}  // namespace

std::string reason_not_executed(std::string_view opcode) {
  if (is_one_of(opcode, of_textures))
    return fmt::format("'{}': textures and surfaces are not supported by the emulator", opcode);
  if (is_one_of(opcode, of_sm_100))
    return fmt::format("'{}' needs .target sm_100{}, which the emulator does not execute", opcode,
                       opcode == "tcgen05" ? "a" : "");
  return fmt::format("'{}' is not an instruction of PTX that the emulator knows", opcode);
}

}  // namespace kaio::emulator
