#pragma once
// The shared or local variable from which each access of a kernel gets its address. An address register counts
// if all that is ever written to it comes from one variable, by moves, sums with numbers, and conversions.
// Then an access outside of the variable is an overrun, whatever is there. A register that holds anything else
// at times is left alone, so code that uses one register for two variables causes no report.
//
//   mov.u32 %r1, a;  mad.lo.u32 %r2, %i, 4, %r1;  st.shared.u32 [%r2], 0;   // in `a`

#include "emulator/program/program.hpp"

#include <vector>

namespace kaio::emulator::sanitizing {

class address_origins {
 public:
  explicit address_origins(const entry& kernel);
  // nullptr: not known.
  const known_address* of_site(u32 site) const { return site < of_site_.size() ? of_site_[site] : nullptr; }

 private:
  std::vector<const known_address*> of_site_;
};

}  // namespace kaio::emulator::sanitizing
