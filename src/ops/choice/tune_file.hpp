#pragma once
// The file in which tuning is kept: one for each device, in a folder of the user's own. Reading never fails:
// a file that is damaged, foreign or unsafe is ignored. Writing makes a new file and renames it,
// under a lock, so that a reader sees one file or the other, and a writer that is killed leaves the old one.

#include "ops/choice/tune_text.hpp"

#include <string>
#include <string_view>

namespace kaio::ops {

// $XDG_CACHE_HOME/kaio/tune or ~/.cache/kaio/tune; empty where there is none that may be used. `create`:
// makes it, for the user alone.
std::string tune_folder(bool create);

// What the file of a device says.
tune_map read_tuning(std::string_view device);
// Adds to it, or replaces; false where that is not possible.
bool write_tuning(std::string_view device, std::string_view key, std::string_view variant);

}  // namespace kaio::ops
