#include <kaio/runtime/buffer.hpp>

#include <kaio/runtime/error.hpp>
#include <kaio/runtime/host_buffer.hpp>
#include <kaio/runtime/stream.hpp>

#include <limits>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/context.hpp"

namespace kaio::runtime::detail {

namespace {

std::uint64_t checked_bytes(std::uint64_t count, std::uint32_t element_bytes) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (count > most / element_bytes || count * element_bytes > std::numeric_limits<std::size_t>::max()) {
    throw invalid_argument(
        text("kaio: a buffer of ", count, " elements of ", element_bytes,
             " bytes has more bytes than an address can count; check how its size was computed"));
  }
  return count * element_bytes;
}

// Runs a copy and its wait. When this returns or throws, the host's memory is the caller's again: if a call
// fails, the copies that are already queued are waited for.
template <class Copy>
void to_its_end(backend& device, Copy copy) {
  try {
    copy();
  } catch (...) {
    device.drain();
    throw;
  }
}

void require_host(const char* operation, const void* host, std::uint64_t bytes) {
  if (host == nullptr && bytes != 0) {
    throw invalid_argument(
        text("kaio: ", operation, " with a null host pointer for ", bytes, " bytes; pass the host memory"));
  }
}

}  // namespace

allocation::allocation(const context_ref& context, std::uint64_t count, std::uint32_t element_bytes,
                       bool zeroed)
    : element_bytes_(element_bytes) {
  const std::uint64_t bytes = checked_bytes(count, element_bytes);
  backend& device = context->use();
  if (bytes != 0) address_ = device.allocate(bytes);
  bytes_ = bytes;
  context_ = context;
  if (!zeroed || bytes == 0 || device.allocates_zeroes()) return;
  try {
    device.fill_zero(address_, bytes, context->transfer_stream());
    device.synchronize_stream(context->transfer_stream());
  } catch (...) {
    release();
    throw;
  }
}

allocation::allocation(allocation&& other) noexcept
    : context_(std::move(other.context_)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)),
      element_bytes_(other.element_bytes_) {}

allocation& allocation::operator=(allocation&& other) noexcept {
  if (this != &other) {
    release();
    context_ = std::move(other.context_);
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
    element_bytes_ = other.element_bytes_;
  }
  return *this;
}

void allocation::release() noexcept {
  if (address_ != 0) context_->device().free(address_);
  address_ = bytes_ = 0;
  context_ = context_ref();
}

void allocation::require(const char* operation) const {
  if (!context_) {
    throw invalid_argument(text(
        "kaio: ", operation,
        " of a null buffer; it was never allocated, was released, or was moved from: allocate or upload one"));
  }
}

void allocation::require(const char* operation, const stream& s) const {
  require(operation);
  if (s.device_identity() == context_.get()) return;
  if (s.device_identity() == nullptr) {
    throw invalid_argument(text(
        "kaio: ", operation,
        " on a null stream; it was default-constructed or moved from: use gpu.stream() or gpu.create_stream()"));
  }
  throw invalid_argument(text("kaio: ", operation, " of a buffer of ", bytes_, " bytes on ",
                              context_->description(),
                              " on a stream of another device; use a stream of the buffer's device"));
}

std::uint64_t allocation::range(const char* operation, std::uint64_t count, std::uint64_t first) const {
  const std::uint64_t size = bytes_ / element_bytes_;
  if (first > size || count > size - first) {
    throw invalid_argument(text("kaio: ", operation, " of ", count, " elements from element ", first,
                                " of a buffer of ", size, " elements; the range must be inside of it"));
  }
  return count * element_bytes_;
}

void allocation::upload(const void* host) const {
  require_host("upload", host, bytes_);
  backend& device = context_->use();
  if (bytes_ == 0) return;
  to_its_end(device, [&] {
    device.copy_to_device(address_, host, bytes_, context_->transfer_stream());
    device.synchronize_stream(context_->transfer_stream());
  });
}

void allocation::download(void* host) const {
  require("download");
  backend& device = context_->use();
  if (bytes_ == 0) return;
  device.synchronize();
  to_its_end(device, [&] {
    device.copy_to_host(host, address_, bytes_, context_->transfer_stream());
    device.synchronize_stream(context_->transfer_stream());
  });
}

void allocation::download(void* host, const stream& s) const {
  require("download", s);
  to_its_end(context_->use(), [&] {
    copy_to(host, bytes_ / element_bytes_, 0, s);
    s.synchronize();
  });
}

void allocation::copy_from(const void* host, std::uint64_t count, std::uint64_t first,
                           const stream& s) const {
  require("copy_from", s);
  const std::uint64_t bytes = range("copy_from", count, first);
  require_host("copy_from", host, bytes);
  backend& device = context_->use();
  if (bytes != 0) device.copy_to_device(address_ + first * element_bytes_, host, bytes, s.native_);
}

void allocation::copy_to(void* host, std::uint64_t count, std::uint64_t first, const stream& s) const {
  require("copy_to", s);
  const std::uint64_t bytes = range("copy_to", count, first);
  require_host("copy_to", host, bytes);
  backend& device = context_->use();
  if (bytes != 0) device.copy_to_host(host, address_ + first * element_bytes_, bytes, s.native_);
}

void allocation::copy_from(const allocation& source, const stream& s) const {
  require("copy_from", s);
  source.require("copy_from, as its source,");
  if (source.context_.get() != context_.get()) {
    throw invalid_argument(text("kaio: copy_from a buffer on ", source.context_->description(),
                                " into one on another device, ", context_->description(),
                                "; download it and upload it there"));
  }
  if (source.bytes_ != bytes_) {
    throw invalid_argument(text("kaio: copy_from a buffer of ", source.bytes_, " bytes into one of ", bytes_,
                                " bytes; both must have the same size"));
  }
  backend& device = context_->use();
  if (bytes_ != 0 && this != &source) device.copy_on_device(address_, source.address_, bytes_, s.native_);
}

void allocation::fill_zero(const stream& s) const {
  require("fill_zero", s);
  backend& device = context_->use();
  if (bytes_ != 0) device.fill_zero(address_, bytes_, s.native_);
}

host_allocation::host_allocation(const context_ref& context, std::uint64_t count,
                                 std::uint32_t element_bytes) {
  const std::uint64_t bytes = checked_bytes(count, element_bytes);
  backend& device = context->use();
  if (bytes != 0) data_ = device.allocate_host(bytes);
  bytes_ = bytes;
  context_ = context;
}

host_allocation::host_allocation(host_allocation&& other) noexcept
    : context_(std::move(other.context_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

host_allocation& host_allocation::operator=(host_allocation&& other) noexcept {
  if (this != &other) {
    release();
    context_ = std::move(other.context_);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

void host_allocation::release() noexcept {
  if (data_ != nullptr) context_->device().free_host(data_);
  data_ = nullptr;
  bytes_ = 0;
  context_ = context_ref();
}

}  // namespace kaio::runtime::detail
