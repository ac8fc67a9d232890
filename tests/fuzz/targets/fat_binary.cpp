// Hostile fat binaries: whatever the bytes, the reader answers with a text or an error of its own, and a text is
// no longer than the parser takes. The bytes are in memory of their own length, so that one read too far is found.

#include "driver_emulator/module/fat_binary.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

namespace {

using namespace kaio::driver_emulator;

constexpr std::size_t member_bytes = 64;

template <class Value>
Value read(const std::uint8_t* at) {
  Value value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class Value>
void write(std::uint8_t* at, Value value) {
  std::memcpy(at, &value, sizeof value);
}

// A changed length hides what follows it; made right again, mutations reach the payloads.
void correct_lengths(std::uint8_t* data, std::size_t size) {
  if (size < fat_header_bytes + member_bytes) return;
  write(data, std::uint32_t{0xba55ed50});
  write(data + 6, static_cast<std::uint16_t>(fat_header_bytes));
  write(data + 8, static_cast<std::uint64_t>(size - fat_header_bytes));
  std::uint8_t* const member = data + fat_header_bytes;
  const std::uint64_t payload = size - fat_header_bytes - member_bytes;
  write(member + 4, static_cast<std::uint32_t>(member_bytes));
  if (read<std::uint64_t>(member + 8) > payload) write(member + 8, payload);
  const auto own = read<std::uint64_t>(member + 8);
  if (read<std::uint32_t>(member + 16) > own) write(member + 16, static_cast<std::uint32_t>(own));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  std::minstd_rand random(seed);
  size = LLVMFuzzerMutate(data, size, most);
  if (random() % 4 != 0) correct_lengths(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto own = std::make_unique<std::byte[]>(size);
  if (size != 0) std::memcpy(own.get(), data, size);
  const image_bytes image(own.get(), size);
  for (const unsigned sm : {70u, 90u}) {
    try {
      const std::string text = ptx_of_fat_binary(image, sm);
      if (text.empty() || text.size() > (std::size_t{64} << 20) || text.find('\0') != std::string::npos)
        std::abort();
    } catch (const image_error&) {
    }
  }
  return 0;
}
