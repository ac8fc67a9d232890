#pragma once
// The tuning files: one per device, in a folder of the user's own. Reading never fails: a file that is
// damaged, foreign or unsafe is ignored. Writing makes a new file under a lock and renames it. A reader sees
// the old file or the new one, and a killed writer leaves the old one.

#include "ops/choice/tune_text.hpp"

#include <string>
#include <string_view>

namespace kaio::ops {

// $XDG_CACHE_HOME/kaio/tune or ~/.cache/kaio/tune; empty if no such folder may be used. create: makes it, for
// the user alone.
std::string tune_folder(bool create);

// The entries in a device's file.
tune_map read_tuning(std::string_view device);
// Adds or replaces an entry; false if that is not possible.
bool write_tuning(std::string_view device, std::string_view key, std::string_view variant);

}  // namespace kaio::ops
