#pragma once
// Makes one module of several, as a linker does. One module defines what another declares .extern, .weak
// gives way, .common definitions merge, and names without linkage stay private to their modules.
//
//   link_units(units, names);   // units[0] has everything then

#include "emulator/parse/syntax.hpp"

#include <deque>
#include <string>
#include <vector>

namespace kaio::emulator {

// Moves all modules into the first. Their places must be in one text that contains them one after another. If
// two modules use a name for different things, it is replaced; `names` owns the new ones. Throws ptx_error.
void link_units(std::vector<syntax::module>& units, std::deque<std::string>& names);

}  // namespace kaio::emulator
