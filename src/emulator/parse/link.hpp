#pragma once
// Makes one module of several, as a linker does: what one declares .extern another one defines, .weak gives
// way, .common meets, and names without linkage stay each module's own.
//
//   link_units(units, names);   // units[0] has everything then

#include "emulator/parse/syntax.hpp"

#include <deque>
#include <string>
#include <vector>

namespace kaio::emulator {

// Moves all modules into the first. Their places must be of one text that has them one after another. Names
// that two modules use for different things are replaced; `names` keeps the new ones. Throws ptx_error.
void link_units(std::vector<syntax::module>& units, std::deque<std::string>& names);

}  // namespace kaio::emulator
