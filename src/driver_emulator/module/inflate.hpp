#pragma once
// The two compressions that nvcc uses for members of a fat binary. Both get the input bytes and the number of
// output bytes; neither reads or writes one more.

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace kaio::driver_emulator {

// The LZ4 block format. Empty: the bytes are no block of `plain` bytes.
// Source: github.com/lz4/lz4, doc/lz4_Block_format.md.
std::optional<std::string> inflate_lz4(std::span<const std::byte> from, std::size_t plain);

// Zstandard is left to its own library, which is opened with the first such member.
bool has_zstandard();
// Empty: the bytes are no frames of `plain` bytes, or there is no such library.
std::optional<std::string> inflate_zstandard(std::span<const std::byte> from, std::size_t plain);

}  // namespace kaio::driver_emulator
