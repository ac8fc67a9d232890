#include "emulator/machine/schedule.hpp"

#include <charconv>

namespace kaio::emulator {

std::optional<schedule> schedule::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  schedule result;
  if (name == "round_robin")
    result.kind = schedule_kind::round_robin;
  else if (name == "reverse")
    result.kind = schedule_kind::reverse;
  else if (name == "starve")
    result.kind = schedule_kind::starve;
  else if (name == "random")
    result.kind = schedule_kind::random;
  else
    return {};
  if (colon == std::string_view::npos) return result;
  const std::string_view number = text.substr(colon + 1);
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), result.seed);
  const bool seeded = result.kind == schedule_kind::starve || result.kind == schedule_kind::random;
  if (!seeded || parsed.ec != std::errc{} || parsed.ptr != number.data() + number.size()) return {};
  return result;
}

}  // namespace kaio::emulator
