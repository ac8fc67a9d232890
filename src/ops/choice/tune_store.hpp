#pragma once
// What tuning found: for each device, the variant of each signature. In memory, and in one file for each
// device that is read when the device is first asked for. May be used from any thread.

#include <kaio/runtime/properties.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace kaio::ops {

// The name of the variant that was found for a key, or an empty text.
std::string find_tuned(const device_properties& device, std::string_view key);
// For this process and, where use_file, for later ones; returns whether it is in the file.
bool remember_tuned(const device_properties& device, std::string_view key, std::string_view variant,
                    bool use_file);

// Grows whenever an answer of find_tuned may have changed.
std::uint64_t tuning_generation() noexcept;

}  // namespace kaio::ops
