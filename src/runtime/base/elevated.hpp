#pragma once
// If a program has more rights than the user who started it (host::runs_elevated), its environment is that user's, and must
// not name files to load, to read or to write.
//
//   const std::string file = file_variable("KAIO_PROFILE");   // empty: unset, or not to be trusted

#include <string>

namespace kaio::runtime {

// The value of an environment variable that names a file or a folder; kaio reads such variables only here. Empty: it
// is unset, or the program runs elevated.
std::string file_variable(const char* name);

}  // namespace kaio::runtime
