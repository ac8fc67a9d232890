#pragma once
// Typed device memory. A buffer owns its memory, knows its device and its size, and frees itself.
//
//   buffer<f32> x = gpu.upload(host_vector), y = gpu.allocate<f32>(n);     // y is zero-filled
//   saxpy.launch(gpu.stream(), over(n), x, y, a, n);
//   std::vector<f32> result = y.download();
//
// upload, download, allocate and destruction wait; copy_from, copy_to and fill_zero queue their work and
// return. Memory is released with the driver's cuMemFree, which waits for the device: queued work that uses
// the buffer finishes first. None of this is on the launch path.
//
// Threads and kernels may use one buffer at once, but a reader must wait for the writer. Only one thread may
// move, assign, release or destroy it, while no other uses it (docs/threads.md).

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/detail/context_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace kaio::runtime {

class device;
class stream;

// gpu.allocate<f32>(n, uninitialised): memory that holds whatever it held before.
struct uninitialised_memory {
  explicit uninitialised_memory() = default;
};
inline constexpr uninitialised_memory uninitialised{};

namespace detail {

// What every buffer<T> does, without its type: one block of device memory.
class allocation {
 public:
  allocation() = default;
  // Throws invalid_argument where count * element_bytes does not fit into 64 bits, out_of_memory.
  allocation(const context_ref& context, std::uint64_t count, std::uint32_t element_bytes, bool zeroed);
  allocation(allocation&& other) noexcept;
  allocation& operator=(allocation&& other) noexcept;
  ~allocation() { release(); }

  void release() noexcept;
  std::uint64_t address() const noexcept { return address_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  const context* owner() const noexcept { return context_.get(); }

  // Synchronous, of the whole block.
  void upload(const void* host) const;
  void download(void* host) const;
  void download(void* host, const stream& s) const;
  // On a stream; `first` and `count` in elements.
  void copy_from(const void* host, std::uint64_t count, std::uint64_t first, const stream& s) const;
  void copy_to(void* host, std::uint64_t count, std::uint64_t first, const stream& s) const;
  void copy_from(const allocation& source, const stream& s) const;
  void fill_zero(const stream& s) const;

 private:
  void require(const char* operation) const;
  void require(const char* operation, const stream& s) const;
  std::uint64_t range(const char* operation, std::uint64_t count, std::uint64_t first) const;

  context_ref context_;
  std::uint64_t address_ = 0, bytes_ = 0;
  std::uint32_t element_bytes_ = 1;
};

}  // namespace detail

// Device memory with another owner (another library's tensor, a part of a buffer). Launches accept it like a
// buffer. Whoever makes one answers for the memory. If `device` is null, the device is not checked.
template <class T>
struct device_pointer {
  using value_type = T;
  std::uint64_t address = 0;
  std::size_t count = 0;
  const void* device = nullptr;  // device::identity()
  bool scattered = false;  // only some of the elements are used: the others may belong to another argument

  ptx::argument as_argument() const noexcept {
    return {address, device, std::uint64_t{count} * sizeof(T), nullptr, scattered};
  }
};

// Move-only. A buffer that was moved from or released is null: size 0, and any use of its memory throws
// invalid_argument.
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T>, "kaio: a buffer's elements must be trivially copyable");
  static_assert(!std::is_const_v<T>, "kaio: write buffer<T>, not buffer<const T>");

 public:
  using value_type = T;

  buffer() = default;
  buffer(buffer&&) noexcept = default;
  buffer& operator=(buffer&&) noexcept = default;

  std::size_t size() const noexcept { return memory_.bytes() / sizeof(T); }
  std::uint64_t bytes() const noexcept { return memory_.bytes(); }
  bool empty() const noexcept { return memory_.bytes() == 0; }
  bool is_null() const noexcept { return memory_.owner() == nullptr; }
  // The device address; 0 for a null or an empty buffer.
  std::uint64_t address() const noexcept { return memory_.address(); }

  ptx::argument as_argument() const noexcept { return {memory_.address(), memory_.owner(), memory_.bytes()}; }
  // `count` elements from `first` on, not owned. Throws nothing: a range outside of the buffer is cut to it.
  device_pointer<T> view(std::size_t first, std::size_t count) const noexcept {
    const std::size_t begin = first < size() ? first : size();
    const std::size_t rest = size() - begin;
    return {address() + std::uint64_t{begin} * sizeof(T), count < rest ? count : rest, memory_.owner(),
            false};
  }
  device_pointer<T> view() const noexcept { return {address(), size(), memory_.owner(), false}; }

  // Returns all elements, after the work in all streams of the device. Waits for it.
  std::vector<T> download() const {
    return collect([this](void* to) { memory_.download(to); });
  }
  // Returns all elements, after the work that is in `s` now. Waits for that stream alone.
  std::vector<T> download(const stream& s) const {
    return collect([&](void* to) { memory_.download(to, s); });
  }

  // Copies `count` elements between host memory and this buffer, from element `first` on, in the order of the
  // stream. The host memory must stay alive until the stream is past the copy; a source must not change. Only
  // copies with host_buffer memory are truly asynchronous: for other (pageable) memory the driver may stage or
  // wait within the call.
  void copy_from(const T* host, std::size_t count, const stream& s, std::size_t first = 0) {
    memory_.copy_from(host, count, first, s);
  }
  void copy_to(T* host, std::size_t count, const stream& s, std::size_t first = 0) const {
    memory_.copy_to(host, count, first, s);
  }
  // Copies all of `source`, which has the same size and device, in the order of the stream.
  void copy_from(const buffer& source, const stream& s) { memory_.copy_from(source.memory_, s); }
  // Every byte zero, in the order of the stream.
  void fill_zero(const stream& s) { memory_.fill_zero(s); }

  // Frees the memory now, after the work that uses it. The buffer is null then; releasing it again does
  // nothing.
  void release() noexcept { memory_.release(); }

 private:
  friend class device;
  explicit buffer(detail::allocation memory) noexcept : memory_(static_cast<detail::allocation&&>(memory)) {}

  template <class Read>
  std::vector<T> collect(Read read) const {
    if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no contiguous elements
      std::vector<unsigned char> raw(size());
      read(raw.data());
      return std::vector<bool>(raw.begin(), raw.end());
    } else {
      std::vector<T> elements(size());
      read(elements.data());
      return elements;
    }
  }

  detail::allocation memory_;
};

}  // namespace kaio::runtime

namespace kaio {
using runtime::buffer;
using runtime::device_pointer;
using runtime::uninitialised;
}  // namespace kaio
