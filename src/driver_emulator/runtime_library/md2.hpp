#pragma once
// The MD2 message digest, and HMAC with it. The CUDA runtime library compares such a value with what the driver
// returns (validity.hpp). MD2 is broken as cryptography: use it for nothing else.
// Source: RFC 1319 (MD2), RFC 2104 (HMAC).

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kaio::driver_emulator {

class md2 {
 public:
  static constexpr std::size_t digest_bytes = 16, block_bytes = 16;
  using digest = std::array<std::uint8_t, digest_bytes>;

  void add(std::span<const std::uint8_t> message);
  // Ends the message; the object must not be used after that.
  digest finish();

 private:
  using block = std::array<std::uint8_t, block_bytes>;
  void mix(const block& b);
  void add_block(const block& b);

  digest state_{};
  block checksum_{}, pending_{};
  std::size_t pending_bytes_ = 0;
};

// HMAC of a message with a key of one block.
md2::digest hmac_md2(const std::array<std::uint8_t, md2::block_bytes>& key,
                     std::span<const std::uint8_t> message);

}  // namespace kaio::driver_emulator
