#pragma once
// A regular file, mapped for reading.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kaio::weights {

class mapped_file {
 public:
  mapped_file() = default;
  // Throws file_error with errc::unreadable_file.
  explicit mapped_file(std::string_view path);
  mapped_file(mapped_file&& other) noexcept;
  mapped_file& operator=(mapped_file&& other) noexcept;
  ~mapped_file();
  std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace kaio::weights
