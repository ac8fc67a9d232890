#pragma once
// Finds the barriers whose absence explains the races of a grid. Races of the same two statements are one row
// with a count. A barrier before the later statement of a row ends every row that spans this place, so a few
// barriers explain all rows (the least number of points that meets all intervals):
//
//   line 5   write  ─┐   ─┐
//   line 10  read   ─┘    │     barrier 1, before line 10, ends the rows 5-10 and 5-13
//   line 13  write  ─┐   ─┘
//   line 20  read   ─┘          barrier 2, before line 20, ends the row 13-20
//
// Rows between warps come first: a barrier of the block also orders the lanes of a warp.

#include "emulator/program/error.hpp"
#include "emulator/program/scalar.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kaio::emulator::sanitizing {

// Two statements that race in one block, by their numbers (watched_grid::statement_of).
struct race_row {
  bool within_warp = false;
  u32 first = 0, second = 0;
  friend auto operator<=>(const race_row&, const race_row&) = default;
};

// The first race of a row.
struct race_example {
  u32 from = 0, to = 0;  // the two instructions in the order of the text
  std::string row;       // "the write at main.cpp:12 and the read at main.cpp:15"
  fault_report report;
};

class missing_barriers {
 public:
  bool empty() const { return rows_.empty(); }
  std::size_t rows() const { return rows_.size(); }
  std::uint64_t races() const { return races_; }
  void clear();

  // Counts a race; false if its row is new, and needs an example.
  bool count(const race_row& row);
  void add(const race_row& row, race_example example);
  // One report for each missing barrier. Its advice ends with the numbers of races.
  std::vector<fault_report> reports() const;

 private:
  struct counted {
    race_example example;
    std::uint64_t times = 1;
  };
  std::map<race_row, counted> rows_;
  std::uint64_t races_ = 0;  // of all rows
};

}  // namespace kaio::emulator::sanitizing
