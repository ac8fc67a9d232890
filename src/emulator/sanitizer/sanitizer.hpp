#pragma once
// The sanitizer: watches a grid and reports errors of a kernel that may seem to work: reads of
// bytes never written, races in shared and global memory, misused barriers, asynchronous copies never
// waited for. It is an observer of launches:
//
//   sanitizer checks(sanitizer_options{});   // all checks; the first report stops the grid
//   launch l{...};
//   l.observers.push_back(&checks);
//   run(l, global);                          // throws fault
//
// Blocks run one after another, and lanes in one order; what is found does not depend on it. Two accesses
// race if nothing orders them: each carries a time, and each thread knows how far it has seen the others,
// through barriers, fences with atomics, and mbarriers (C. Flanagan and S. Freund, "FastTrack", 2009, with
// the scopes of the PTX ISA's memory consistency model).

#include "emulator/machine/observer.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator {

// The kinds of checks. same_value: races whose writes leave the same value; they are only reported when this
// is asked for by its name.
enum class check : u8 { memory, uninitialised, races, barriers, async, same_value };
inline constexpr unsigned check_count = 6;

std::string_view name_of(check c);

class check_set {
 public:
  constexpr check_set() = default;
  static constexpr check_set all() {
    check_set s;
    for (const check c : {check::memory, check::uninitialised, check::races, check::barriers, check::async})
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
  std::uint64_t most_reports = 1;  // with so many the grid stops
  std::string suppressions;        // a file (suppressions.hpp); empty: none

  // "all", or a list of checks such as "races,memory" or "all,-async". Throws launch_error: an unknown name.
  static check_set parse_checks(std::string_view text, std::string_view called);
  // "1", "20", or "continue": without an end. Throws launch_error.
  static std::uint64_t parse_reports(std::string_view text, std::string_view called);
};

class sanitizer final : public grid_observer {
 public:
  // Throws launch_error: the file of suppressions cannot be read.
  explicit sanitizer(sanitizer_options options);
  ~sanitizer() override;  // prints to standard error how many reports were suppressed

  void begin(const grid&) override;
  bool in_turn() const override { return true; }
  bool follows_writes() const override;
  std::unique_ptr<observer> watch(block&) override;
  void conclude(const grid&) override;
  void conclude(const grid&, const fault&) override;
  void end(const grid&) override;

  const sanitizer_options& options() const;
  std::uint64_t suppressed() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kaio::emulator
