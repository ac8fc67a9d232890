#include "emulator/sanitizer/report/options.hpp"

#include "emulator/program/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace kaio::emulator {
namespace {

constexpr std::string_view names[check_count] = {"memory", "uninitialised", "races", "barriers",
                                                 "warps",  "indices",       "async", "same_value"};

}  // namespace

std::string_view name_of(check c) { return names[static_cast<unsigned>(c)]; }

check_set sanitizer_options::parse_checks(std::string_view text, std::string_view called) {
  const auto refuse = [&](const std::string& why) {
    throw launch_error(fmt::format("kaio: {} is '{}', {}", called, text, why));
  };
  if (text.starts_with('-'))
    refuse(fmt::format("which leaves a check out of none; write all,{} for all others", text));
  check_set result;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string_view word = text.substr(at, comma - at);
    at = comma + 1;
    const bool without = word.starts_with('-');
    if (without) word.remove_prefix(1);
    if (word == "all") {
      result = without ? check_set{} : check_set::all();
    } else {
      bool known = false;
      for (unsigned c = 0; c < check_count; ++c) {
        if (names[c] != word) continue;
        result.set(static_cast<check>(c), !without);
        known = true;
      }
      if (!known)
        refuse(fmt::format(
            "and '{}' is no check; it may be all, memory, uninitialised, races, barriers, warps, indices, async, same_value, or a list of them with commas, with - before one to leave it out",
            word));
    }
  }
  if (result.empty()) refuse("which leaves every check out; without it nothing is checked");
  return result;
}

std::uint64_t sanitizer_options::parse_reports(std::string_view text, std::string_view called) {
  if (text == "continue") return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0)
    throw launch_error(
        fmt::format("kaio: {} is '{}'; it may be a number of reports from 1, or continue", called, text));
  return value;
}

}  // namespace kaio::emulator
