#pragma once
// Page-locked host memory: copies to and from a device must use it to overlap the host's own work.
//
//   host_buffer<f32> staging = gpu.allocate_host<f32>(n);
//   y.copy_to(staging.data(), n, s);         // returns at once
//   s.synchronize();
//   use(staging[0]);
//
// Page-locked memory is taken from the whole machine: use it for staging only. It is zero-filled. On the
// emulator it is ordinary memory. Its rules for threads are those of std::vector (docs/threads.md).

#include <kaio/runtime/detail/context_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::runtime {

class device;

namespace detail {

class host_allocation {
 public:
  host_allocation() = default;
  host_allocation(const context_ref& context, std::uint64_t count, std::uint32_t element_bytes);
  host_allocation(host_allocation&& other) noexcept;
  host_allocation& operator=(host_allocation&& other) noexcept;
  ~host_allocation() { release(); }
  void release() noexcept;
  void* data() const noexcept { return data_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  context_ref context_;
  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace detail

// Move-only. A buffer that was moved from or released is null and empty. Release waits for the device, so
// that no queued copy loses its memory.
template <class T>
class host_buffer {
  static_assert(std::is_trivially_copyable_v<T>, "kaio: a host_buffer's elements must be trivially copyable");

 public:
  using value_type = T;

  host_buffer() = default;
  host_buffer(host_buffer&&) noexcept = default;
  host_buffer& operator=(host_buffer&&) noexcept = default;

  T* data() noexcept { return static_cast<T*>(memory_.data()); }
  const T* data() const noexcept { return static_cast<const T*>(memory_.data()); }
  std::size_t size() const noexcept { return memory_.bytes() / sizeof(T); }
  bool empty() const noexcept { return memory_.bytes() == 0; }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size(); }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size(); }
  void release() noexcept { memory_.release(); }

 private:
  friend class device;
  explicit host_buffer(detail::host_allocation memory) noexcept
      : memory_(static_cast<detail::host_allocation&&>(memory)) {}
  detail::host_allocation memory_;
};

}  // namespace kaio::runtime

namespace kaio {
using runtime::host_buffer;
}  // namespace kaio
