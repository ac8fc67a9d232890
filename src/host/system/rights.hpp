#pragma once
// What a process may do, and whose its environment is.

#include <string>

namespace kaio::host {

// Whether this program has more rights than the user who started it: set-uid, set-gid and capabilities; on Windows, the
// full token of an administrator whose other programs have a filtered one (UAC).
bool runs_elevated() noexcept;

// The value of an environment variable, in UTF-8; empty: it is unset.
std::string environment_text(const char* name);

}  // namespace kaio::host
