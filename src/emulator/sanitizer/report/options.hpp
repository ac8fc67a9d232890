#pragma once
// The options of the sanitizer: its checks, the number of reports, and the reports to leave out.
//
//   sanitizer_options options;
//   options.checks = sanitizer_options::parse_checks("all,-async", "--sanitize");

#include "emulator/program/scalar.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace kaio::emulator {

// The kinds of checks. same_value: races whose writes leave equal values; reported only if requested by name.
enum class check : u8 { memory, uninitialised, races, barriers, warps, indices, async, same_value };
inline constexpr unsigned check_count = 8;

std::string_view name_of(check c);

class check_set {
 public:
  constexpr check_set() = default;
  static constexpr check_set all() {
    check_set s;
    for (const check c : {check::memory, check::uninitialised, check::races, check::barriers, check::warps,
                          check::indices, check::async})
      s.set(c, true);
    return s;
  }
  constexpr bool has(check c) const { return (bits_ >> static_cast<unsigned>(c) & 1u) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr void set(check c, bool on) {
    const unsigned bit = 1u << static_cast<unsigned>(c);
    bits_ = on ? bits_ | bit : bits_ & ~bit;
  }

 private:
  unsigned bits_ = 0;
};

struct sanitizer_options {
  check_set checks = check_set::all();
  std::uint64_t most_reports = 1;  // the grid stops at this number
  std::string suppressions;        // a file (suppressions.hpp); empty: none

  // "all", or a list of checks such as "races,memory" or "all,-async". Throws launch_error: an unknown name, a list
  // that begins with an exclusion, or one that excludes everything.
  static check_set parse_checks(std::string_view text, std::string_view called);
  // "1", "20", or "continue" (no limit). Throws launch_error.
  static std::uint64_t parse_reports(std::string_view text, std::string_view called);
};

}  // namespace kaio::emulator
