#pragma once
// Typed device memory. A buffer owns its memory, knows its device and its size, and frees itself.
//
//   buffer<f32> x = gpu.upload(host_vector), y = gpu.allocate<f32>(n);     // y is zero-filled
//   saxpy.launch(gpu.stream(), over(n), x, y, a, n);
//   std::vector<f32> result = y.download();
//
// upload, download, allocate and destruction wait; copy_from, copy_to and fill_zero queue their work and
// return. Memory is released with the driver's cuMemFree, which waits for the device: queued work that uses
// the buffer finishes first. Memory of a pool (memory_pool.hpp) is released in the order of its stream, and
// nothing waits. None of this is on the launch path.
//
// A part of a buffer is a device_pointer, which does not own:
//
//   device_pointer<f32> head = x.slice(0, 128);
//   device_pointer<u8> bytes = head.reinterpret<u8>();               // 512 elements
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
class memory_pool;
class stream;

// gpu.allocate<f32>(n, uninitialised): memory that holds whatever it held before.
struct uninitialised_memory {
  explicit uninitialised_memory() = default;
};
inline constexpr uninitialised_memory uninitialised{};

namespace detail {

// Who releases a buffer's memory: `release(owner, address)` is called once, on the thread that drops the buffer.
struct memory_owner {
  void (*release)(void* owner, std::uint64_t address) noexcept = nullptr;
  void* owner = nullptr;
};

// What every buffer<T> does, without its type: one block of device memory.
class allocation {
 public:
  allocation() = default;
  // Throws invalid_argument where count * element_bytes does not fit into 64 bits, out_of_memory.
  allocation(const context_ref& context, std::uint64_t count, std::uint32_t element_bytes, bool zeroed);
  // Memory of a pool, in the order of a stream. Throws as well stream_capturing.
  allocation(const pool_ref& pool, std::uint64_t count, std::uint32_t element_bytes, bool zeroed,
             const stream& s);
  // Memory with another owner. Throws invalid_argument: null, misaligned, or not of this device.
  allocation(const context_ref& context, std::uint64_t address, std::uint64_t count,
             std::uint32_t element_bytes, std::uint32_t alignment, memory_owner owner);
  allocation(allocation&& other) noexcept;
  allocation& operator=(allocation&& other) noexcept;
  ~allocation() { release(); }

  void release() noexcept;
  // For memory of a pool: the release is in the order of `s`, not of the stream of the allocation.
  void release(const stream& s);
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
  memory_owner owner_;  // none: the driver's cuMemFree, or the emulator
};

// Throws invalid_argument: elements [first, first + count) are not within `size` elements.
void check_elements(const char* operation, std::uint64_t first, std::uint64_t count, std::uint64_t size);
// Throws invalid_argument: the address is no multiple of `alignment`, or the bytes no whole number of elements.
void check_reinterpret(std::uint64_t address, std::uint64_t bytes, std::uint32_t element_bytes,
                       std::uint32_t alignment);

}  // namespace detail

// Device memory with another owner (another library's tensor, a part of a buffer). Launches accept it like a
// buffer. Whoever makes one answers for the memory. If `device` is null, the device is not checked.
//
//   device_pointer<f32> x{reinterpret_cast<std::uint64_t>(tensor.data_ptr()), tensor.numel(), gpu.identity()};
template <class T>
struct device_pointer {
  using value_type = T;
  std::uint64_t address = 0;
  std::size_t count = 0;
  const void* device = nullptr;  // device::identity()
  bool scattered = false;  // only some of the elements are used: the others may belong to another argument

  // `count` elements from element `first` on. Throws invalid_argument if there are fewer.
  device_pointer slice(std::size_t first, std::size_t elements) const {
    detail::check_elements("slice", first, elements, count);
    return {address + std::uint64_t{first} * sizeof(T), elements, device, scattered};
  }
  // Reads these bytes as elements of another type. Throws invalid_argument if the address is misaligned for it, or
  // if they are no whole number of elements.
  template <class U>
  device_pointer<U> reinterpret() const {
    static_assert(std::is_trivially_copyable_v<U>,
                  "kaio: elements of device memory must be trivially copyable");
    const std::uint64_t bytes = std::uint64_t{count} * sizeof(T);
    detail::check_reinterpret(address, bytes, sizeof(U), alignof(U));
    return {address, static_cast<std::size_t>(bytes / sizeof(U)), device, scattered};
  }

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
  // The elements, not owned: all of them, or `count` from element `first` on. slice throws invalid_argument if there
  // are fewer.
  device_pointer<T> view() const noexcept { return {address(), size(), memory_.owner(), false}; }
  device_pointer<T> slice(std::size_t first, std::size_t count) const { return view().slice(first, count); }
  // The bytes as elements of another type, as device_pointer::reinterpret.
  template <class U>
  device_pointer<U> reinterpret() const {
    return view().template reinterpret<U>();
  }

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
  // Copies all of `source`, which has the same size, in the order of the stream. It may be on another GPU, or on
  // another emulator.
  void copy_from(const buffer& source, const stream& s) { memory_.copy_from(source.memory_, s); }
  // Every byte zero, in the order of the stream.
  void fill_zero(const stream& s) { memory_.fill_zero(s); }

  // Frees the memory now, after the work that uses it. The buffer is null then; releasing it again does
  // nothing.
  void release() noexcept { memory_.release(); }
  // As release, but memory of a pool is released in the order of `s`: for a buffer that was last used there.
  void release(const stream& s) { memory_.release(s); }

 private:
  friend class device;
  friend class memory_pool;
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
