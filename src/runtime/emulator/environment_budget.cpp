#include "runtime/emulator/environment_budget.hpp"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "emulator/program/error.hpp"
#include "host/lasting.hpp"

namespace kaio::runtime {
namespace {

using emulator::budget_unit;
using emulator::u64;

constexpr double most_seconds = 1e9;

struct variable {
  const char* name;
  budget_unit unit;
  bool of_program;
};
constexpr variable variables[] = {
    {"KAIO_LAUNCH_SECONDS", budget_unit::nanoseconds, false},
    {"KAIO_LAUNCH_INSTRUCTIONS", budget_unit::warp_instructions, false},
    {"KAIO_PROGRAM_SECONDS", budget_unit::nanoseconds, true},
    {"KAIO_PROGRAM_INSTRUCTIONS", budget_unit::warp_instructions, true},
};

constexpr variable patience{"KAIO_LIVELOCK_SECONDS", budget_unit::nanoseconds, false};
constexpr std::chrono::seconds usual_patience{10};

[[noreturn]] void refuse(const variable& v, std::string_view text, std::string_view wanted) {
  throw emulator::launch_error(fmt::format("kaio: {} is '{}'; write {}", v.name, text, wanted));
}

template <class Number>
bool read_all(std::string_view text, Number& to) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), to);
  return failed == std::errc{} && end == text.data() + text.size();
}

// Returns the limit in the unit of the budget.
u64 limit_of(const variable& v, std::string_view text) {
  if (v.unit == budget_unit::warp_instructions) {
    u64 count = 0;
    if (!read_all(text, count) || count == 0) refuse(v, text, "a number of warp instructions from 1");
    return count;
  }
  double seconds = 0;
  if (!read_all(text, seconds) || !(seconds > 0 && seconds <= most_seconds))
    refuse(v, text, "seconds above 0, as 30 or 0.5");
  return static_cast<u64>(seconds * 1e9);
}

// The amount that the launches of this program have used. It lives as long as the program: launches may still run
// when static objects are gone.
using counter = std::shared_ptr<std::atomic<u64>>;
const counter& used_by_program(budget_unit unit) {
  static const auto& instructions = *host::make_lasting<counter>(std::make_shared<std::atomic<u64>>(0));
  static const auto& nanoseconds = *host::make_lasting<counter>(std::make_shared<std::atomic<u64>>(0));
  return unit == budget_unit::warp_instructions ? instructions : nanoseconds;
}

}  // namespace

std::vector<emulator::budget> environment_budgets() {
  std::vector<emulator::budget> result;
  for (const variable& v : variables) {
    const char* const text = std::getenv(v.name);
    if (text == nullptr || *text == '\0') continue;
    emulator::budget& b = result.emplace_back();
    b.unit = v.unit;
    b.limit = limit_of(v, text);
    b.origin = v.name;
    if (!v.of_program) continue;
    b.scope = "the launches of this program together";
    b.used = used_by_program(v.unit);
  }
  return result;
}

std::chrono::nanoseconds environment_patience() {
  const char* const text = std::getenv(patience.name);
  if (text == nullptr || *text == '\0') return usual_patience;
  return std::chrono::nanoseconds(limit_of(patience, text));
}

}  // namespace kaio::runtime
