#pragma once
// A GPU, or the emulator that stands in for one. Everything that a host program does begins here.
//
//   device gpu = device::open();              // the first GPU, or else the emulator
//   auto x = gpu.upload(host_x);
//   auto y = gpu.allocate<f32>(n);
//   saxpy.launch(gpu.stream(), over(n), x, y, a, n);
//
// A GPU is used through its primary context, which it shares with PyTorch and every other CUDA user of the
// process. The context that is current on the calling thread is the same after a call as before it, unless
// there was none.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/detail/context_ref.hpp>
#include <kaio/runtime/event.hpp>
#include <kaio/runtime/host_buffer.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kaio::runtime {

struct budget;  // budget.hpp

namespace detail {
template <class Range>
concept contiguous_range = requires(const Range& r) {
  r.data();
  r.size();
};
}  // namespace detail

// A handle: copies mean the same device. Buffers, streams and events that it makes keep the device open. A
// handle may be used from several threads at once, but for assigning to it (docs/threads.md).
class device {
 public:
  // The device that the environment variable KAIO_DEVICE names (`emulator` or `cuda:N`), or the first GPU,
  // or, where the machine has no usable GPU, the emulator, which is reported on the standard error stream;
  // description() says which it is. Throws invalid_argument (malformed KAIO_DEVICE), driver_missing,
  // no_device.
  static device open();
  // `emulator` or `cuda:N`. Each emulator that is opened is a device of its own; all handles of one GPU are
  // one device. KAIO_EMULATOR_ARCH (sm_70, sm_80, sm_89, sm_90, sm_90a, sm_100a) is the emulator's architecture;
  // sm_90a is the default.
  static device open(std::string_view name);
  // The number of GPUs; 0 where there is no driver.
  static int count() noexcept;
  // What can be opened: the GPUs in order, then the emulator.
  static std::vector<device_properties> available();

  device(const device& other) noexcept;
  device& operator=(const device& other) noexcept;

  // "NVIDIA H200", "emulator". The views live as long as the device is open.
  std::string_view name() const noexcept;
  // "NVIDIA H200, sm_90, 132 SMs, driver 13.0 (580.65.06)", "emulator (sm_90a)".
  std::string_view description() const noexcept;
  const device_properties& properties() const noexcept;
  bool is_emulator() const noexcept { return properties().is_emulator(); }
  // Bytes, at this moment.
  runtime::memory_info memory_info() const;
  // What `ptx::argument::device` carries for this device's buffers.
  const void* identity() const noexcept { return context_.get(); }
  friend bool operator==(const device& a, const device& b) noexcept { return a.identity() == b.identity(); }

  // The device's own stream, for programs that need no other. The reference lives as long as this handle.
  runtime::stream& stream() const noexcept { return stream_; }
  runtime::stream create_stream() const;
  event create_event() const;

  // Device memory for `count` elements, zero-filled. Zero elements are a buffer without memory. Throws
  // invalid_argument where the size overflows, out_of_memory.
  template <class T>
  buffer<T> allocate(std::size_t count) const {
    return buffer<T>(detail::allocation(context_, count, sizeof(T), true));
  }
  template <class T>
  buffer<T> allocate(std::size_t count, uninitialised_memory) const {
    return buffer<T>(detail::allocation(context_, count, sizeof(T), false));
  }
  template <class T>
  host_buffer<T> allocate_host(std::size_t count) const {
    return host_buffer<T>(detail::host_allocation(context_, count, sizeof(T)));
  }

  // A buffer with a copy of host memory. The host memory may be reused when the call returns.
  template <class T>
  buffer<T> upload(const T* host, std::size_t count) const {
    detail::allocation memory(context_, count, sizeof(T), false);
    memory.upload(host);
    return buffer<T>(static_cast<detail::allocation&&>(memory));
  }
  // Of anything with data() and size(): std::vector, std::array, std::span, ...
  template <detail::contiguous_range Range>
  auto upload(const Range& host) const {
    using element = std::remove_cv_t<std::remove_reference_t<decltype(*host.data())>>;
    const element* data = host.data();
    return upload<element>(data, static_cast<std::size_t>(host.size()));
  }
  template <class T, std::size_t Count>
  buffer<T> upload(const T (&host)[Count]) const {
    return upload<T>(host, Count);
  }
  buffer<bool> upload(const std::vector<bool>& host) const;

  // Loads a kernel ahead of its first launch. Throws what a launch would: unsupported_device, jit_error, ...
  void warmup(const ptx::kernel_image& kernel) const;
  // Whether the program carries machine code of a kernel for this GPU (kaio_precompile), so that loading it takes no
  // compiler. False on the emulator, which runs the text. Does not load the kernel.
  bool is_precompiled(const ptx::kernel_image& kernel) const;
  // How many blocks of a kernel are resident on the whole device at once: the largest grid of a cooperative
  // kernel. `shared_bytes` is what a launch adds to the kernel's own shared memory. Loads the kernel.
  std::uint64_t resident_blocks(const ptx::kernel_image& kernel, std::uint32_t shared_bytes = 0) const;
  // How many clusters of a kernel are resident on the whole device at once, which is what a persistent grid
  // launches: clusters that the kernel fixes, or `cluster`. Less than resident_blocks / cluster.count() where
  // multiprocessors are left over in the groups of which a cluster takes one. Loads the kernel, and remembers
  // the answer: asking again costs some ten nanoseconds.
  std::uint64_t max_active_clusters(const ptx::kernel_image& kernel, const ptx::dim3& cluster = {0, 0, 0},
                                    std::uint32_t shared_bytes = 0) const;
  // Of the emulator: what launches from now on may use, instead of what was set before; `budget{}` removes all
  // limits. A launch that uses more throws launch_timeout, and the device is lost. Throws invalid_argument (a
  // negative duration), unsupported_device: a GPU runs a kernel to its end.
  void set_budget(const budget& limits) const;
  // Of the emulator, from any thread: launches that run on the device, or wait for their turn, end as soon as they
  // can, within milliseconds, and throw launch_cancelled in the threads that made them. What a kernel has written
  // until then stays written. The device stays usable; launches made after the call run as ever. Without effect where
  // nothing runs. Throws unsupported_device: a GPU runs a kernel to its end.
  void cancel() const;
  // Waits for all work on the device, that of other users of its context too. Throws what the work failed
  // with.
  void synchronize() const;

 private:
  explicit device(detail::context_ref context) noexcept;

  detail::context_ref context_;
  mutable runtime::stream stream_;
};

}  // namespace kaio::runtime

namespace kaio {
using runtime::device;
}  // namespace kaio
