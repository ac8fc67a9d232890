#pragma once
// Whether this program runs with more rights than the user who started it (set-uid, set-gid, capabilities):
// then its environment is that user's, and must not name files to load or to write.

namespace kaio::runtime {

bool runs_elevated() noexcept;

}  // namespace kaio::runtime
