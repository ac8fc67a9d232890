#include "emulator/memory/zeroed_bytes.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "host/system/memory.hpp"

namespace kaio::emulator {
namespace {

constexpr std::size_t small = std::size_t{256}
                              << 10;  // below this, writing zeros is faster than asking for pages

}  // namespace

zeroed_bytes::zeroed_bytes(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* const pages = host::reserve_zeros(bytes);
  if (pages == nullptr) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(pages);
}

zeroed_bytes::~zeroed_bytes() {
  if (data_ != nullptr) host::release_zeros(data_, bytes_);
}

zeroed_bytes::zeroed_bytes(zeroed_bytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

zeroed_bytes& zeroed_bytes::operator=(zeroed_bytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void zeroed_bytes::clear() {
  if (bytes_ == 0) return;
  if (bytes_ > small && host::clear_zeros(data_, bytes_)) return;
  std::memset(data_, 0, bytes_);
}

}  // namespace kaio::emulator
