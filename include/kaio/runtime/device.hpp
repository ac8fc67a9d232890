#pragma once
// A GPU, or the emulator in place of one. Everything that a host program does begins here.
//
//   device gpu = device::open();              // the first GPU, or else the emulator
//   auto x = gpu.upload(host_x);
//   auto y = gpu.allocate<f32>(n);
//   saxpy.launch(gpu.stream(), over(n), x, y, a, n);
//
// A GPU is used through its primary context, which it shares with PyTorch and every other CUDA user of the
// process, unless device::of_current_context names another. If a context was current on the calling thread
// before a call, it is current again after the call. Opening a device creates no stream.
//
//   device gpu = device::of_current_context();                               // a guest of another CUDA user
//   stream s = stream::borrow(gpu, their_stream);
//   saxpy.launch(s, over(n), x, y, a, n);

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/detail/context_ref.hpp>
#include <kaio/runtime/event.hpp>
#include <kaio/runtime/host_buffer.hpp>
#include <kaio/runtime/memory_pool.hpp>
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

// A handle: copies refer to the same device. Its buffers, streams and events keep the device open. Several
// threads may use a handle at once, but not assign to it (docs/threads.md).
class device {
 public:
  // Opens the device that the environment variable KAIO_DEVICE names (see below), else the first
  // GPU. If the machine has no usable GPU, opens the emulator and reports so on the standard error stream.
  // description() names the device. Throws invalid_argument (malformed KAIO_DEVICE), driver_missing,
  // no_device.
  static device open();
  // `cuda:N`, `emulator:N` or `emulator`. All handles of one GPU, or of the emulator with one number (0 to 15), are
  // one device while it is open. Emulators with numbers can read each other's memory, like GPUs of one host. Each
  // `emulator` without a number is a device of its own. KAIO_EMULATOR_ARCH sets the architecture of emulators:
  // sm_70 to sm_90a, or a newer one such as sm_100a. The default is sm_90a.
  static device open(std::string_view name);
  // The GPU of the CUDA context that is current on this thread, used through that context, whoever made it. kaio
  // does not keep a context alive that is not a primary one: what is made here is destroyed before it. Throws
  // no_device if no context is current, driver_missing.
  static device of_current_context();
  // GPU `ordinal`, through the current context if that is one of this GPU, else through the primary context. Throws
  // no_device, driver_missing.
  // Cheap if it is open: some ten nanoseconds.
  static device current(int ordinal);
  // The device that has the memory at an address: a GPU (managed memory: where it was made), or an emulator with a
  // number. A GPU is used through the context of the memory if that is open, else as by current(). Throws
  // invalid_argument if no device has it.
  static device of_pointer(std::uint64_t address);
  // The number of GPUs; 0 where there is no driver.
  static int count() noexcept;
  // What can be opened: the GPUs in order, then the emulator.
  static std::vector<device_properties> available();
  // The emulator as each architecture that KAIO_STRICT names: "sm_75,sm_90a", or 1 for sm_70, sm_75, sm_80, sm_86, sm_89
  // and sm_90a. On the emulator, operations refuse what one of these would refuse. Empty if the variable is not set.
  // Throws invalid_argument if it is malformed.
  static std::vector<device_properties> strict();

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

  // The device's own stream, for programs that need no other; it is created when this is first called. The
  // reference lives as long as this handle.
  runtime::stream& stream() const;
  runtime::stream create_stream(const stream_options& options = {}) const;
  // What stream_options::priority may be.
  runtime::stream_priorities stream_priorities() const;
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
  // Memory of the device's pool, in the order of a stream: usable in `s` from here on, and in other streams after an
  // event. The pool is that of set_pool, else one with the default options.
  template <class T>
  buffer<T> allocate(std::size_t count, const runtime::stream& s) const {
    return pool().template allocate<T>(count, s);
  }
  template <class T>
  buffer<T> allocate(std::size_t count, const runtime::stream& s, uninitialised_memory) const {
    return pool().template allocate<T>(count, s, uninitialised);
  }
  // A pool of device memory (memory_pool.hpp). Throws unsupported_device if the driver has no stream-ordered pools.
  memory_pool create_pool(const memory_pool_options& options = {}) const;
  // The pool that allocate(count, stream) takes memory from, for all handles of the device.
  memory_pool pool() const;
  void set_pool(const memory_pool& pool) const;

  // A buffer of memory that another part of the program owns. `release(owner, address)` is called once, when the
  // buffer goes; it waits for nothing. Memory of managed allocations may be given. Throws invalid_argument: a
  // null or misaligned address, or one that is not of this device.
  template <class T>
  buffer<T> adopt(std::uint64_t address, std::size_t count,
                  void (*release)(void* owner, std::uint64_t address) noexcept, void* owner) const {
    return buffer<T>(detail::allocation(context_, address, count, sizeof(T), alignof(T), {release, owner}));
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
  // Accepts anything with data() and size(): std::vector, std::array, std::span, ...
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

  // Whether kernels of this device can access the other's memory, once enable_access was called. True for the same
  // device, and between emulators with numbers.
  bool can_access(const device& other) const;
  // From here on, launches on this device accept buffers of `other`. Memory of the other's pools is included. Throws
  // unsupported_device if can_access is false. Calling it again does nothing.
  void enable_access(const device& other) const;

  // Loads a kernel ahead of its first launch. Throws what a launch would: unsupported_device, jit_error, ...
  void warmup(const ptx::kernel_image& kernel) const;
  // Whether the program carries machine code of a kernel for this GPU (kaio_precompile): loading it then needs no
  // compiler. False on the emulator, which runs the text. Does not load the kernel.
  bool is_precompiled(const ptx::kernel_image& kernel) const;
  // The number of blocks of a kernel that are resident on the whole device at once: the largest grid of a
  // cooperative kernel. `shared_bytes` is added to the kernel's own shared memory. Loads the kernel.
  std::uint64_t resident_blocks(const ptx::kernel_image& kernel, std::uint32_t shared_bytes = 0) const;
  // The number of clusters of a kernel that are resident on the whole device at once: the grid of a persistent
  // kernel. The cluster is the kernel's fixed one, or `cluster`. A cluster runs within one group of
  // multiprocessors (GPC). If groups have multiprocessors left over, the result is less than resident_blocks /
  // cluster.count(). Loads the kernel, and remembers the answer: asking again costs some ten nanoseconds.
  std::uint64_t max_active_clusters(const ptx::kernel_image& kernel, const ptx::dim3& cluster = {0, 0, 0},
                                    std::uint32_t shared_bytes = 0) const;
  // Emulator only. Limits launches from now on and replaces earlier limits; `budget{}` removes all limits. A
  // launch that uses more throws launch_timeout, and the device is lost. Throws invalid_argument (a negative
  // duration), and on a GPU, which runs a kernel to its end, unsupported_device.
  void set_budget(const budget& limits) const;
  // Emulator only, from any thread. Ends launches that run on the device or wait for their turn, within
  // milliseconds. They throw launch_cancelled in the threads that made them; their writes stay. The device stays
  // usable, and later launches run as usual. If nothing runs, the call has no effect. On a GPU, which runs a
  // kernel to its end, throws unsupported_device.
  void cancel() const;
  // Waits for all work on the device, including that of other users of its context. Throws if the work failed.
  void synchronize() const;

 private:
  friend class stream;
  friend class graph;
  explicit device(detail::context_ref context) noexcept;

  detail::context_ref context_;
  mutable runtime::stream stream_;   // null until stream() is called
  mutable bool has_stream_ = false;  // only stream() accesses it
};

}  // namespace kaio::runtime

namespace kaio {
using runtime::device;
}  // namespace kaio
