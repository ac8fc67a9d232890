#pragma once
// The scalar types of PTX under the names of its manual, for code that computes on lanes. The emulator has
// its own: the language has types of these names with other duties.

#include <cstdint>

namespace kaio::emulator {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

inline constexpr unsigned warp_lanes = 32;
inline constexpr u32 all_lanes = 0xffffffffu;

}  // namespace kaio::emulator
