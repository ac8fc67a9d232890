#pragma once
// The store of tuning: for each device, the variant of each signature. It is in memory, and in one file per
// device, which is read at the device's first use. Any thread may use it.

#include <kaio/runtime/properties.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace kaio::ops {

// The name of the variant found for a key, or an empty string.
std::string find_tuned(const device_properties& device, std::string_view key);
// Remembers for this process and, if use_file, for later ones. Returns whether it is in the file.
bool remember_tuned(const device_properties& device, std::string_view key, std::string_view variant,
                    bool use_file);

// Grows whenever answers of find_tuned may have changed.
std::uint64_t tuning_generation() noexcept;

}  // namespace kaio::ops
