#pragma once
// The limits of textures and surfaces, as attributes of a device. Source: CUDA C++ programming guide, table of
// technical specifications.

#include "driver_emulator/abi/types.hpp"

#include <cstdint>
#include <optional>

namespace kaio::driver_emulator {

// Addresses of linear and pitched memory are multiples of the first, pitches of the second. Device memory starts at
// multiples of 256.
inline constexpr std::uint64_t texture_alignment = 256, texture_pitch_alignment = 32;
inline constexpr std::uint64_t most_linear_texels = std::uint64_t{1} << 28;
inline constexpr std::uint64_t most_pitched_width = 131072, most_pitched_height = 65000, most_pitch = 2097120;

// Nothing if the attribute is not one of textures and surfaces.
std::optional<int> image_limit(CUdevice_attribute attribute);

}  // namespace kaio::driver_emulator
