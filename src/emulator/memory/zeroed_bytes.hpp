#pragma once
// Zeroed memory that may be large and sparsely used, such as the local memory of a block with recursive
// functions. Unwritten pages cost nothing; clearing costs as much as was written.
//
//   zeroed_bytes local(bytes);
//   local.clear();

#include <cstddef>

namespace kaio::emulator {

class zeroed_bytes {
 public:
  zeroed_bytes() = default;
  // Throws std::bad_alloc.
  explicit zeroed_bytes(std::size_t bytes);
  ~zeroed_bytes();
  zeroed_bytes(zeroed_bytes&& other) noexcept;
  zeroed_bytes& operator=(zeroed_bytes&& other) noexcept;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  void clear();  // all bytes are zero again

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kaio::emulator
