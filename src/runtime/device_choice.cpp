#include "runtime/device_choice.hpp"

#include <kaio/runtime/error.hpp>

#include <charconv>

#include "runtime/base/text.hpp"

namespace kaio::runtime {

namespace {
struct named_target {
  std::string_view name;
  ptx::target target;
};
constexpr named_target architectures[] = {
    {"sm_70", {70, false}}, {"sm_75", {75, false}}, {"sm_80", {80, false}}, {"sm_86", {86, false}},
    {"sm_89", {89, false}}, {"sm_90", {90, false}}, {"sm_90a", {90, true}},
};
}  // namespace

int ordinal_of(std::string_view name, std::string_view origin) {
  if (name == "emulator") return emulator_ordinal;
  constexpr std::string_view cuda = "cuda:";
  if (name.starts_with(cuda)) {
    const std::string_view digits = name.substr(cuda.size());
    int ordinal = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
    const bool plain = !digits.empty() && digits.front() >= '0' && digits.front() <= '9';
    if (plain && failed == std::errc() && end == digits.data() + digits.size()) return ordinal;
  }
  throw invalid_argument(text("kaio: ", origin, " is '", name,
                              "', which names no device; write emulator, or cuda:N with N from 0"));
}

ptx::target emulator_architecture(const char* value) {
  if (!value || !*value) return {90, true};
  for (const auto& [name, target] : architectures) {
    if (name == value) return target;
  }
  throw invalid_argument(text("kaio: KAIO_EMULATOR_ARCH is '", value,
                              "'; write sm_70, sm_75, sm_80, sm_86, sm_89, sm_90 or sm_90a"));
}

}  // namespace kaio::runtime
