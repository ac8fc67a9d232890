#pragma once
// Reads little-endian values from bytes, never beyond their end.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace kaio::weights {

// A value at an address of any alignment. The hosts of kaio are little endian, as the files are.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

class byte_reader {
 public:
  explicit byte_reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  std::size_t position() const noexcept { return at_; }
  std::size_t left() const noexcept { return bytes_.size() - at_; }
  // The next bytes, or nothing where there are fewer.
  std::optional<std::span<const std::byte>> take(std::uint64_t count) noexcept {
    if (count > left()) return std::nullopt;
    const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(count));
    at_ += taken.size();
    return taken;
  }
  template <class T>
  std::optional<T> read() noexcept {
    const auto bytes = take(sizeof(T));
    if (!bytes) return std::nullopt;
    return load<T>(bytes->data());
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace kaio::weights
