#pragma once
// A profile of everything that a program runs on the emulator, asked for by its environment:
//
//   KAIO_PROFILE   the file for it: HTML for .html, JSON for .json, text for any other, - for the standard
//                  output; %p in the name is the number of the process
//
// It is written when the program ends, and earlier after each launch that ends with a fault. If a program has
// more rights than the user who started it, it does not write the file that its environment names.

#include "emulator/machine/observer.hpp"

namespace kaio::runtime {

// The observer of every launch; nullptr: no profile is asked for.
emulator::grid_observer* environment_profile();

}  // namespace kaio::runtime
