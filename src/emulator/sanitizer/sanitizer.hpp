#pragma once
// The sanitizer: watches a grid and reports errors of a kernel that may seem to work: reads of bytes never
// written, races in shared and global memory, misused barriers, asynchronous copies never waited for. It is
// an observer of launches:
//
//   sanitizer checks(sanitizer_options{});   // all checks; the first report stops the grid
//   launch l{...};
//   l.observers.push_back(&checks);
//   run(l, global);                          // throws fault
//
// Blocks run one after another, and lanes in one order; the reports do not depend on it. Two accesses race if
// nothing orders them. Each access carries a time, and each thread knows how far it has seen the others:
// through barriers, fences with atomics, and mbarriers (C. Flanagan and S. Freund, "FastTrack", 2009, with
// the scopes of the PTX ISA's memory consistency model).

#include "emulator/machine/concurrent_observer.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/sanitizer/report/options.hpp"

#include <cstdint>
#include <memory>

namespace kaio::emulator {

// It watches one grid at a time. A grid that waits for memory keeps its own records, and others begin with new ones: what
// two grids do at the same time is not compared.
class sanitizer final : public grid_observer, public concurrent_observer {
 public:
  // Throws launch_error: the file of suppressions cannot be read.
  explicit sanitizer(sanitizer_options options);
  ~sanitizer() override;

  // Prints the number of suppressed reports to standard error, if it has grown since the last call.
  void report_suppressed() noexcept;

  void begin(const grid&) override;
  bool in_turn() const override { return true; }
  bool follows_writes() const override;
  std::unique_ptr<observer> watch(block&) override;
  void conclude(const grid&) override;
  void conclude(const grid&, const fault&) override;
  void end(const grid&) override;
  void waits(const grid&) override;

  const sanitizer_options& options() const;
  std::uint64_t suppressed() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kaio::emulator
