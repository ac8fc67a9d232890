#pragma once
// Known reports to leave out, as a file with one line each:
//
//   # check  kernel         where (a PTX line, or the end of a C++ file's name with a line; may be left out)
//   races    reduce_*       41
//   all      old_kernel     ops/attention.hpp:120
//
// `check` is the name of a check or "all"; in a kernel's pattern, * matches any characters.

#include "emulator/program/error.hpp"
#include "emulator/sanitizer/report/options.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator::sanitizing {

bool matches_pattern(std::string_view text, std::string_view pattern);

class suppressions {
 public:
  suppressions() = default;
  // Parses the rules in a text; `file` is its name in messages. Throws launch_error: a line is malformed.
  suppressions(std::string_view text, std::string file);
  // Throws launch_error: the file cannot be read, or a line is malformed.
  static suppressions of_file(const std::string& file);

  // Several threads may ask at a time.
  bool matches(check c, const fault_report& r);
  std::uint64_t count() const { return __atomic_load_n(&count_, __ATOMIC_RELAXED); }
  const std::string& file() const { return file_; }

 private:
  struct rule {
    bool any_check = false;
    check which = check::memory;
    std::string kernel;
    std::uint32_t ptx_line = 0;  // 0: not given
    std::string source;          // "file:line"; empty: not given
  };
  void add(std::string_view line, std::size_t number);

  std::string file_;
  std::vector<rule> rules_;
  std::uint64_t count_ = 0;
};

}  // namespace kaio::emulator::sanitizing
