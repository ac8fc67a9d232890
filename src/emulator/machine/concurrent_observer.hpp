#pragma once
// For observers that watch one grid at a time. While a grid waits for memory that another one writes, that other one
// must be able to begin.

#include "emulator/machine/grid.hpp"

namespace kaio::emulator {

class concurrent_observer {
 public:
  concurrent_observer() = default;
  concurrent_observer(const concurrent_observer&) = delete;
  concurrent_observer& operator=(const concurrent_observer&) = delete;
  virtual ~concurrent_observer() = default;

  // The grid waits: from now until its end, others may begin and end. Called from the grid's thread.
  virtual void waits(const grid&) = 0;
};

}  // namespace kaio::emulator
