#include "runtime/device_choice.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>

#include "runtime/base/text.hpp"

namespace kaio::runtime {

namespace {
constexpr std::uint16_t architectures[] = {70, 75, 80, 86, 87, 88, 89, 90};
}  // namespace

namespace {
// N of `prefix` + N; nullopt: the name is no such thing.
std::optional<int> number_after(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return {};
  const std::string_view digits = name.substr(prefix.size());
  int number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool plain = !digits.empty() && digits.front() >= '0' && digits.front() <= '9';
  if (plain && failed == std::errc() && end == digits.data() + digits.size()) return number;
  return {};
}
}  // namespace

device_choice choice_of(std::string_view name, std::string_view origin) {
  if (name == "emulator") return {};
  if (const auto n = number_after("cuda:", name)) return {.ordinal = *n};
  if (const auto n = number_after("emulator:", name); n && *n < most_emulators) return {.emulator = *n};
  throw invalid_argument(text("kaio: ", origin, " is '", name,
                              "', which names no device; write emulator, emulator:N with N from 0 to ",
                              most_emulators - 1, ", or cuda:N with N from 0"));
}

namespace {

// The architecture of a name; nullopt if there is none.
std::optional<ptx::target> architecture_named(std::string_view name) {
  if (!name.starts_with("sm_")) return {};
  std::string_view digits = name.substr(3);
  const char suffix = digits.empty() ? '\0' : digits.back();
  if (suffix == 'a' || suffix == 'f') digits.remove_suffix(1);
  std::uint16_t sm = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), sm);
  const bool number = failed == std::errc() && end == digits.data() + digits.size();
  const bool older =
      std::find(std::begin(architectures), std::end(architectures), sm) != std::end(architectures);
  if (number && ((sm >= 100 && sm <= 999) || (older && suffix != 'f' && (suffix != 'a' || sm == 90))))
    return ptx::target{sm, suffix == 'a'};
  return {};
}

}  // namespace

ptx::target emulator_architecture(const char* value) {
  if (!value || !*value) return {90, true};
  if (const auto found = architecture_named(value)) return *found;
  throw invalid_argument(text("kaio: KAIO_EMULATOR_ARCH is '", value, "'; write ", architecture_names));
}

std::vector<ptx::target> strict_architectures(const char* value) {
  std::string_view rest = value ? value : "";
  if (rest.empty() || rest == "0") return {};
  if (rest == "1") return {{70, false}, {75, false}, {80, false}, {86, false}, {89, false}, {90, true}};
  std::vector<ptx::target> result;
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto found = architecture_named(rest.substr(0, comma));
    if (!found)
      throw invalid_argument(text("kaio: KAIO_STRICT is '", value,
                                  "'; write 1, or a list such as sm_75,sm_90a of ", architecture_names));
    result.push_back(*found);
    if (comma == std::string_view::npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace kaio::runtime
