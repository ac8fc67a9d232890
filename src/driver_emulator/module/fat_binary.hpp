#pragma once
// The container in which nvcc puts code for several architectures: a header, then members one after another.
// Each member has its own header, and is plain or compressed. Only the PTX text for one device is read. The
// reader trusts nothing but the length of the span.
//
//   std::string text = ptx_of_fat_binary(contents, 90);

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace kaio::driver_emulator {

// Why an image is not loaded: it is no such image, or a good one without PTX that the device runs.
enum class image_fault { malformed, not_for_this_device };

class image_error : public std::runtime_error {
 public:
  image_error(image_fault what, const char* why) : std::runtime_error(why), fault_(what) {}
  image_fault fault() const { return fault_; }

 private:
  image_fault fault_;
};

using image_bytes = std::span<const std::byte>;

// The limit of one image; a larger one is malformed.
inline constexpr std::size_t most_image_bytes = std::size_t{1} << 30;
// Every fat binary has at least these bytes, which state its length.
inline constexpr std::size_t fat_header_bytes = 16;

bool is_fat_binary(image_bytes image);
// The length that the fat binary states, its header included. Throws image_error: no such header, or more
// than most_image_bytes.
std::size_t bytes_of_fat_binary(image_bytes header);

// The text of the newest architecture that the device runs, without what follows a zero in it.
// Throws image_error.
std::string ptx_of_fat_binary(image_bytes image, unsigned newest_sm);

}  // namespace kaio::driver_emulator
