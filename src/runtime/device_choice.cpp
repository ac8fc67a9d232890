#include "runtime/device_choice.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "runtime/base/text.hpp"

namespace kaio::runtime {

namespace {
constexpr std::uint16_t architectures[] = {70, 75, 80, 86, 87, 88, 89, 90};
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
  std::string_view digits = value;
  if (digits.starts_with("sm_")) {
    digits.remove_prefix(3);
    const char suffix = digits.empty() ? '\0' : digits.back();
    if (suffix == 'a' || suffix == 'f') digits.remove_suffix(1);
    std::uint16_t sm = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), sm);
    const bool number = failed == std::errc() && end == digits.data() + digits.size();
    const bool older =
        std::find(std::begin(architectures), std::end(architectures), sm) != std::end(architectures);
    if (number && ((sm >= 100 && sm <= 999) || (older && suffix != 'f' && (suffix != 'a' || sm == 90))))
      return {sm, suffix == 'a'};
  }
  throw invalid_argument(text("kaio: KAIO_EMULATOR_ARCH is '", value, "'; write ", architecture_names));
}

}  // namespace kaio::runtime
