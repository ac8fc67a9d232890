#include "driver_emulator/runtime_library/md2.hpp"

namespace kaio::driver_emulator {
namespace {

// A permutation of the bytes, made from the digits of pi. Source: RFC 1319, appendix A.3.
constexpr std::array<std::uint8_t, 256> permutation{
    41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,   243,
    192, 199, 115, 140, 152, 147, 43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212, 224, 22,
    103, 66,  111, 24,  138, 23,  229, 18,  190, 78,  196, 214, 218, 158, 222, 73,  160, 251, 245, 142,
    187, 47,  238, 122, 169, 104, 121, 145, 21,  178, 7,   63,  148, 194, 16,  137, 11,  34,  95,  33,
    128, 127, 93,  154, 90,  144, 50,  39,  53,  62,  204, 231, 191, 247, 151, 3,   255, 25,  48,  179,
    72,  165, 181, 209, 215, 94,  146, 42,  172, 86,  170, 198, 79,  184, 56,  210, 150, 164, 125, 182,
    118, 252, 107, 226, 156, 116, 4,   241, 69,  157, 112, 89,  100, 113, 135, 32,  134, 91,  207, 101,
    230, 45,  168, 2,   27,  96,  37,  173, 174, 176, 185, 246, 28,  70,  97,  105, 52,  64,  126, 15,
    85,  71,  163, 35,  221, 81,  175, 58,  195, 92,  249, 206, 186, 197, 234, 38,  44,  83,  13,  110,
    133, 40,  132, 9,   211, 223, 205, 244, 65,  129, 77,  82,  106, 220, 55,  200, 108, 193, 171, 250,
    36,  225, 123, 8,   12,  189, 177, 74,  120, 136, 149, 139, 227, 99,  232, 109, 233, 203, 213, 254,
    59,  0,   29,  57,  242, 239, 183, 14,  102, 88,  208, 228, 166, 119, 114, 248, 235, 117, 75,  10,
    49,  68,  80,  180, 143, 237, 31,  26,  219, 153, 141, 51,  159, 17,  131, 20};

}  // namespace

void md2::mix(const block& b) {
  constexpr unsigned rounds = 18;
  std::array<std::uint8_t, 3 * block_bytes> words;
  for (std::size_t i = 0; i < block_bytes; ++i) {
    words[i] = state_[i];
    words[i + block_bytes] = b[i];
    words[i + 2 * block_bytes] = static_cast<std::uint8_t>(state_[i] ^ b[i]);
  }
  std::uint8_t last = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::uint8_t& word : words) last = word = static_cast<std::uint8_t>(word ^ permutation[last]);
    last = static_cast<std::uint8_t>(last + round);
  }
  for (std::size_t i = 0; i < block_bytes; ++i) state_[i] = words[i];
}

void md2::add_block(const block& b) {
  std::uint8_t last = checksum_.back();
  for (std::size_t i = 0; i < block_bytes; ++i) {
    const auto index = static_cast<std::uint8_t>(b[i] ^ last);
    last = checksum_[i] = static_cast<std::uint8_t>(checksum_[i] ^ permutation[index]);
  }
  mix(b);
}

void md2::add(std::span<const std::uint8_t> message) {
  for (const std::uint8_t byte : message) {
    pending_[pending_bytes_++] = byte;
    if (pending_bytes_ < block_bytes) continue;
    add_block(pending_);
    pending_bytes_ = 0;
  }
}

md2::digest md2::finish() {
  const auto padding = static_cast<std::uint8_t>(block_bytes - pending_bytes_);
  for (unsigned i = 0; i < padding; ++i) add({&padding, 1});
  const block sum = checksum_;
  mix(sum);
  return state_;
}

md2::digest hmac_md2(const std::array<std::uint8_t, md2::block_bytes>& key,
                     std::span<const std::uint8_t> message) {
  const auto keyed = [&](std::uint8_t pad, std::span<const std::uint8_t> text) {
    auto padded = key;
    for (std::uint8_t& byte : padded) byte = static_cast<std::uint8_t>(byte ^ pad);
    md2 hash;
    hash.add(padded);
    hash.add(text);
    return hash.finish();
  };
  constexpr std::uint8_t inner = 0x36, outer = 0x5c;
  return keyed(outer, keyed(inner, message));
}

}  // namespace kaio::driver_emulator
