#include <kaio/runtime/buffer.hpp>

#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/error.hpp>
#include <kaio/runtime/host_buffer.hpp>
#include <kaio/runtime/stream.hpp>

#include <limits>
#include <memory>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/context.hpp"
#include "runtime/pool.hpp"
#include "runtime/stream_access.hpp"
#include "runtime/trace/work.hpp"

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

// Runs a copy and its wait in a stream. When this returns or throws, the host's memory is the caller's again: if a
// call fails, what is already queued in the stream is waited for.
template <class Copy>
void to_its_end(backend& device, backend::native_stream stream, Copy copy) {
  try {
    copy();
  } catch (...) {
    device.drain(stream);
    throw;
  }
}

// The work of buffers, as the trace shows it.
void to_device(backend& device, std::uint64_t to, const void* from, std::uint64_t bytes,
               backend::native_stream stream) {
  const trace::work traced(device, stream, [&] { return trace::copy("to device", bytes); });
  device.copy_to_device(to, from, bytes, stream);
}
void to_host(backend& device, void* to, std::uint64_t from, std::uint64_t bytes,
             backend::native_stream stream) {
  const trace::work traced(device, stream, [&] { return trace::copy("to host", bytes); });
  device.copy_to_host(to, from, bytes, stream);
}
void zero(backend& device, std::uint64_t to, std::uint64_t bytes, backend::native_stream stream) {
  const trace::work traced(device, stream, [&] { return trace::fill(bytes, 0); });
  device.fill({.to = to, .count = bytes}, stream);
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
  if (bytes != 0) {
    const trace::call traced("allocate", {}, bytes);
    address_ = device.allocate(bytes);
  }
  bytes_ = bytes;
  context_ = context;
  if (!zeroed || bytes == 0 || device.allocates_zeroes()) return;
  try {
    zero(device, address_, bytes, context->transfer_stream());
    device.synchronize_stream(context->transfer_stream());
  } catch (...) {
    release();
    throw;
  }
}

namespace {

// The release of a pool's block.
void release_block(void* owner, std::uint64_t address) noexcept {
  const std::unique_ptr<pool_block> block(static_cast<pool_block*>(owner));
  block->from->free(address, *block);
}

}  // namespace

allocation::allocation(const pool_ref& from, std::uint64_t count, std::uint32_t element_bytes, bool zeroed,
                       const stream& s)
    : element_bytes_(element_bytes) {
  const std::uint64_t bytes = checked_bytes(count, element_bytes);
  if (!from)
    throw invalid_argument(
        "kaio: allocate of a null memory_pool; it was default-constructed: use device::create_pool");
  context& on = device_of(s, "allocate from a pool");
  if (&on != &from->device())
    throw invalid_argument(text("kaio: allocate from a pool on ", from->device().description(),
                                " in a stream of another device; use a stream of the pool's device"));
  if (bytes != 0) {
    auto block = std::make_unique<pool_block>();
    block->from = from;
    from->use_stream(*block, s.native_, s.is_borrowed());
    const trace::call traced("allocate from pool", {}, bytes);
    address_ = from->allocate(bytes, *block);
    owner_ = {release_block, block.release()};
  }
  bytes_ = bytes;
  context_ = s.context_;
  if (!zeroed || bytes == 0) return;
  try {
    zero(on.use(), address_, bytes, s.native_);
  } catch (...) {
    release();
    throw;
  }
}

allocation::allocation(const context_ref& context, std::uint64_t address, std::uint64_t count,
                       std::uint32_t element_bytes, std::uint32_t alignment, memory_owner owner)
    : element_bytes_(element_bytes) {
  const std::uint64_t bytes = checked_bytes(count, element_bytes);
  backend& device = context->use();
  if (bytes != 0 && address == 0)
    throw invalid_argument(
        text("kaio: adopt of ", bytes, " bytes at a null address; pass the address of device memory"));
  if (address % alignment != 0)
    throw invalid_argument(text("kaio: adopt of memory at ", hexadecimal(address),
                                ", which is no multiple of ", alignment,
                                "; pass an address that is aligned to its elements"));
  if (bytes != 0 && (!device.has_memory(address) || !device.has_memory(address + bytes - 1)))
    throw invalid_argument(text("kaio: adopt of ", bytes, " bytes at ", hexadecimal(address),
                                ", which are not memory of ", context->description(),
                                "; use the device that device::of_pointer returns"));
  if (owner.release == nullptr)
    throw invalid_argument(
        "kaio: adopt of memory without a release function; write device_pointer for memory that is only lent");
  address_ = address;
  bytes_ = bytes;
  owner_ = owner;
  context_ = context;
}

void check_elements(const char* operation, std::uint64_t first, std::uint64_t count, std::uint64_t size) {
  if (first > size || count > size - first) {
    throw invalid_argument(text("kaio: ", operation, " of ", count, " elements from element ", first,
                                " of a buffer of ", size, " elements; the range must be inside of it"));
  }
}

void check_reinterpret(std::uint64_t address, std::uint64_t bytes, std::uint32_t element_bytes,
                       std::uint32_t alignment) {
  if (address % alignment != 0)
    throw invalid_argument(text("kaio: reinterpret of memory at ", hexadecimal(address),
                                ", which is no multiple of ", alignment,
                                "; begin the slice at an element that is aligned for the new type"));
  if (bytes % element_bytes != 0)
    throw invalid_argument(text("kaio: reinterpret of ", bytes, " bytes as elements of ", element_bytes,
                                " bytes, which is no whole number; slice the memory first"));
}

allocation::allocation(allocation&& other) noexcept
    : context_(std::move(other.context_)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)),
      element_bytes_(other.element_bytes_),
      owner_(std::exchange(other.owner_, {})) {}

allocation& allocation::operator=(allocation&& other) noexcept {
  if (this != &other) {
    release();
    context_ = std::move(other.context_);
    address_ = std::exchange(other.address_, 0);
    bytes_ = std::exchange(other.bytes_, 0);
    element_bytes_ = other.element_bytes_;
    owner_ = std::exchange(other.owner_, {});
  }
  return *this;
}

void allocation::release() noexcept {
  if (address_ != 0 || owner_.release != nullptr) {
    const trace::call traced("free", {}, bytes_);
    if (owner_.release != nullptr)
      owner_.release(owner_.owner, address_);
    else
      context_->device().free(address_);
  }
  owner_ = {};
  address_ = bytes_ = 0;
  context_ = context_ref();
}

void allocation::release(const stream& s) {
  if (!context_) return;
  require("release", s);
  if (owner_.release == release_block) {
    auto& block = *static_cast<pool_block*>(owner_.owner);
    block.from->use_stream(block, s.native_, s.is_borrowed());
  }
  release();
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
  if (s.device_identity() == nullptr) detail::throw_null_stream(operation);
  throw invalid_argument(text("kaio: ", operation, " of a buffer of ", bytes_, " bytes on ",
                              context_->description(),
                              " on a stream of another device; use a stream of the buffer's device"));
}

std::uint64_t allocation::range(const char* operation, std::uint64_t count, std::uint64_t first) const {
  check_elements(operation, first, count, bytes_ / element_bytes_);
  return count * element_bytes_;
}

void allocation::upload(const void* host) const {
  require_host("upload", host, bytes_);
  backend& device = context_->use();
  if (bytes_ == 0) return;
  const trace::call traced("upload", {}, bytes_);
  const backend::native_stream transfers = context_->transfer_stream();
  to_its_end(device, transfers, [&] {
    to_device(device, address_, host, bytes_, transfers);
    device.synchronize_stream(transfers);
  });
}

void allocation::download(void* host) const {
  require("download");
  backend& device = context_->use();
  if (bytes_ == 0) return;
  const trace::call traced("download", {}, bytes_);
  device.synchronize();
  const backend::native_stream transfers = context_->transfer_stream();
  to_its_end(device, transfers, [&] {
    to_host(device, host, address_, bytes_, transfers);
    device.synchronize_stream(transfers);
  });
}

void allocation::download(void* host, const stream& s) const {
  require("download", s);
  const trace::call traced("download", {}, bytes_);
  to_its_end(context_->use(), s.native_, [&] {
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
  if (bytes != 0 && !stream_access::is_loading(s))
    to_device(device, address_ + first * element_bytes_, host, bytes, s.native_);
}

void allocation::copy_to(void* host, std::uint64_t count, std::uint64_t first, const stream& s) const {
  require("copy_to", s);
  const std::uint64_t bytes = range("copy_to", count, first);
  require_host("copy_to", host, bytes);
  backend& device = context_->use();
  if (bytes != 0 && !stream_access::is_loading(s))
    to_host(device, host, address_ + first * element_bytes_, bytes, s.native_);
}

void allocation::copy_from(const allocation& source, const stream& s) const {
  require("copy_from", s);
  source.require("copy_from, as its source,");
  if (source.bytes_ != bytes_) {
    throw invalid_argument(text("kaio: copy_from a buffer of ", source.bytes_, " bytes into one of ", bytes_,
                                " bytes; both must have the same size"));
  }
  if (this == &source) return;
  copy(s, {address_, context_.get(), bytes_}, {source.address_, source.context_.get(), source.bytes_});
}

void allocation::fill_zero(const stream& s) const {
  require("fill_zero", s);
  backend& device = context_->use();
  if (bytes_ != 0 && !stream_access::is_loading(s)) zero(device, address_, bytes_, s.native_);
}

host_allocation::host_allocation(const context_ref& context, std::uint64_t count,
                                 std::uint32_t element_bytes) {
  const std::uint64_t bytes = checked_bytes(count, element_bytes);
  backend& device = context->use();
  if (bytes != 0) {
    const trace::call traced("allocate on the host", {}, bytes);
    data_ = device.allocate_host(bytes);
  }
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
  if (data_ != nullptr) {
    const trace::call traced("free on the host", {}, bytes_);
    context_->device().free_host(data_);
  }
  data_ = nullptr;
  bytes_ = 0;
  context_ = context_ref();
}

}  // namespace kaio::runtime::detail
