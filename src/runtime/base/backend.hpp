#pragma once
// The interface of a device, below everything that users see. Two devices have it: the CUDA driver and the
// emulator. A backend throws kaio::error with the device, the call and the remedy, and puts failures that
// lose the device into its latch. Checks that need no device come before its calls. Its handles are its own:
// they are only given back to it.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/budget.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/tensor_map.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/failure.hpp"
#include "runtime/base/kernel_content.hpp"

namespace kaio::runtime {

// The code of one kernel on one device.
class loaded_kernel {
 public:
  explicit loaded_kernel(const ptx::kernel_image& kernel) : content_(kernel) {}
  loaded_kernel(const loaded_kernel&) = delete;
  loaded_kernel& operator=(const loaded_kernel&) = delete;
  virtual ~loaded_kernel() = default;

  // The image that it was loaded from may be gone.
  const kernel_content& content() const noexcept { return content_; }

  // For the trace and the log; they are known only if one of them asks for it when the kernel is loaded.
  bool precompiled = false;
  std::uint32_t registers = 0, local_bytes = 0;  // of a thread

 private:
  kernel_content content_;
};

// What a backend reports of a launch that is traced. The emulator reports it when the launch has run; a GPU leaves the
// times 0.
struct launch_measure {
  std::uint64_t begin = 0, end = 0;  // nanoseconds on the steady clock
  std::uint64_t warp_instructions = 0;
};

// Whether the time between two events is known.
enum class measured : std::uint8_t { yes, not_yet, never };

// A launch that passed every check. `values[i]` points at the bytes of argument i.
struct checked_launch {
  const ptx::kernel_image& kernel;
  ptx::dim3 grid;
  std::uint32_t dynamic_shared;  // bytes of a block, in addition to those that its text declares
  void** values;
  const ptx::argument* arguments;
  ptx::dim3 cluster;  // as the launch asks; zeros: as the kernel fixes it, or none
  bool programmatic;
  launch_measure* measure = nullptr;  // null: nobody asks
};

// Rows of bytes to copy, each between device memory and device or host memory: exactly one of `host_to` and
// `to`, and one of `host_from` and `from`, is given. One row: the pitches do not count.
struct row_copy {
  std::uint64_t to = 0, from = 0;  // device addresses
  void* host_to = nullptr;
  const void* host_from = nullptr;
  std::uint64_t width = 0, rows = 1;           // bytes of a row
  std::uint64_t to_pitch = 0, from_pitch = 0;  // bytes
};

// `count` elements of `unit` bytes, 1, 2 or 4, all of them `value`.
struct row_fill {
  std::uint64_t to = 0;
  std::uint32_t value = 0, unit = 1;
  std::uint64_t count = 0;
};

class backend {
 public:
  using native_stream = void*;
  using native_event = void*;
  using native_pool = void*;
  using native_graph = void*;
  using native_node = void*;
  using native_executable = void*;
  using host_function = void (*)(void* data);
  using node_list = std::span<const native_node>;

  backend() = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  virtual ~backend() = default;

  const device_properties& properties() const noexcept { return properties_; }
  const std::string& description() const noexcept { return description_; }
  failure_latch& failures() noexcept { return failures_; }
  // Advice for when the device is lost.
  virtual std::string_view remedy() const noexcept = 0;

  // The driver's context; null: the emulator.
  virtual void* native_context() const noexcept { return nullptr; }
  // Whether it is the GPU's primary context, which kaio keeps alive.
  virtual bool is_primary() const noexcept { return false; }

  // Limits launches from now on. Throws invalid_argument, or unsupported_device if a launch cannot be ended.
  virtual void set_budget(const budget& limits) = 0;
  // Ends the launches that have begun, or wait for their turn. Throws unsupported_device as well.
  virtual void cancel() = 0;

  virtual runtime::memory_info memory_info() = 0;
  virtual std::uint64_t allocate(std::uint64_t bytes) = 0;  // bytes > 0
  // Whether allocated memory is zero-filled from the start.
  virtual bool allocates_zeroes() const noexcept = 0;
  virtual void free(std::uint64_t address) noexcept = 0;  // after the work that was put in
  virtual void* allocate_host(std::uint64_t bytes) = 0;   // zero-filled
  virtual void free_host(void* address) noexcept = 0;
  // Lets kernels use ordinary host memory in place, until it is detached as often as it was attached. Returns its address
  // on the device, or 0 if the device cannot. The caller keeps the memory alive. bytes > 0.
  virtual std::uint64_t attach_host(void*, std::uint64_t /*bytes*/) { return 0; }
  virtual void detach_host(void*) noexcept {}
  virtual void copy_to_device(std::uint64_t to, const void* from, std::uint64_t bytes,
                              native_stream stream) = 0;
  virtual void copy_to_host(void* to, std::uint64_t from, std::uint64_t bytes, native_stream stream) = 0;
  virtual void copy_on_device(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                              native_stream stream) = 0;
  virtual void fill(const row_fill& shape, native_stream stream) = 0;
  virtual void copy_rows(const row_copy& shape, native_stream stream) = 0;
  // Between memory of two devices of the same kind, in the order of a stream of this one.
  virtual void copy_between(std::uint64_t to, backend& target, std::uint64_t from, backend& source,
                            std::uint64_t bytes, native_stream stream) = 0;
  // Whether the address is in memory of this device.
  virtual bool has_memory(std::uint64_t address) = 0;
  // Whether `other` is a device of the same kind whose memory this one can access, once enable_access was called.
  virtual bool can_access(const backend& other) = 0;
  virtual void enable_access(backend& other) = 0;

  // Pools of the driver. `keep`: unused bytes that stay with the pool. Throws unsupported_device.
  virtual native_pool create_pool(std::uint64_t keep) = 0;
  virtual void destroy_pool(native_pool pool) noexcept = 0;
  virtual std::uint64_t allocate_from(native_pool pool, std::uint64_t bytes, native_stream stream) = 0;
  virtual void free_async(std::uint64_t address, native_stream stream) noexcept = 0;
  virtual void trim(native_pool pool, std::uint64_t keep) = 0;
  // The bytes that the pool has taken from the device: now, and at most so far.
  virtual std::pair<std::uint64_t, std::uint64_t> reserved(native_pool pool) = 0;
  // Lets `other` access the pool's memory; enable_access was called before.
  virtual void open_pool_to(native_pool pool, const backend& other) = 0;

  virtual native_stream create_stream(int priority) = 0;
  virtual runtime::stream_priorities stream_priorities() = 0;
  // The stream that another library's handle means. Throws invalid_argument: none, as far as that is known.
  virtual native_stream borrowed_stream(void* handle) = 0;
  virtual void call_host(native_stream stream, host_function function, void* data) = 0;
  virtual void destroy_stream(native_stream stream) noexcept = 0;
  virtual void synchronize_stream(native_stream stream) = 0;
  virtual bool stream_is_done(native_stream stream) = 0;
  virtual bool stream_is_capturing(native_stream stream) = 0;
  virtual void stream_wait(native_stream stream, native_event event) = 0;
  virtual void synchronize() = 0;
  virtual void drain() noexcept = 0;  // waits like synchronize, even if the work fails
  // Waits so for one stream, unless that is captured. No capture is disturbed, as by a wait for the device.
  virtual void drain(native_stream stream) noexcept = 0;

  virtual native_event create_event() = 0;
  virtual void destroy_event(native_event event) noexcept = 0;
  virtual void record(native_event event, native_stream stream) = 0;
  virtual void synchronize_event(native_event event) = 0;
  virtual bool event_is_done(native_event event) = 0;
  virtual double elapsed_ms(native_event begin, native_event end) = 0;
  // The time from one event to another, for a trace. Never fails loudly, and disturbs no capture. Waits only if it is
  // asked to.
  virtual measured measure(native_event, native_event, bool /*wait*/, double& /*milliseconds*/) noexcept {
    return measured::never;
  }

  // Graphs. A captured call that was not allowed is remembered, and end_capture throws stream_capturing with it.
  virtual void begin_capture(native_stream stream) = 0;
  virtual native_graph end_capture(native_stream stream) = 0;
  // Remembers a call in a captured stream that the runtime refused itself.
  virtual void note_refused_in_capture(native_stream stream, const std::string& message) = 0;
  virtual native_graph create_graph() = 0;
  virtual void destroy_graph(native_graph graph) noexcept = 0;
  virtual native_graph clone_graph(native_graph graph) = 0;
  virtual native_node find_in_clone(native_graph clone, native_node original) = 0;
  virtual std::size_t graph_size(native_graph graph) = 0;
  virtual native_node add_kernel(native_graph graph, node_list after, const loaded_kernel& code,
                                 const checked_launch& launch) = 0;
  virtual native_node add_copy(native_graph graph, node_list after, const row_copy& shape) = 0;
  virtual native_node add_fill(native_graph graph, node_list after, const row_fill& shape) = 0;
  virtual native_node add_host(native_graph graph, node_list after, host_function function, void* data) = 0;
  virtual native_node add_empty(native_graph graph, node_list after) = 0;
  virtual native_node add_child(native_graph graph, node_list after, native_graph child) = 0;
  virtual native_executable instantiate(native_graph graph) = 0;
  virtual void destroy_executable(native_executable executable) noexcept = 0;
  virtual void update(native_executable executable, native_graph changed) = 0;
  virtual void replace_kernel(native_executable executable, native_node node, const loaded_kernel& code,
                              const checked_launch& launch) = 0;
  virtual void upload_graph(native_executable executable, native_stream stream) = 0;
  virtual void launch_graph(native_executable executable, native_stream stream) = 0;

  virtual std::unique_ptr<loaded_kernel> load(const ptx::kernel_image& kernel) = 0;
  virtual void launch(const loaded_kernel& code, const checked_launch& launch, native_stream stream) = 0;
  // The number of blocks of the kernel that are resident on the whole device at once.
  virtual std::uint64_t resident_blocks(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                        std::uint32_t dynamic_shared) = 0;
  // The number of such clusters, each of more than one block; `cluster` passed its checks.
  virtual std::uint64_t max_active_clusters(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                            const ptx::dim3& cluster, std::uint32_t dynamic_shared) = 0;
  // Writes the 128 bytes of a description that passed every check.
  virtual void encode_tensor_map(const detail::tensor_description& tensor, unsigned char* to) = 0;

 protected:
  device_properties properties_;
  std::string description_;
  failure_latch failures_;
};

// Opens GPU `ordinal` in its primary context. Throws driver_missing, no_device, ...
std::unique_ptr<backend> open_cuda_backend(int ordinal);
// Opens a GPU in a context that another part of the program owns.
std::unique_ptr<backend> open_cuda_backend(int ordinal, void* context);
// `number` is N of emulator:N, or -1. Emulators with numbers share one address space.
std::unique_ptr<backend> open_emulator_backend(ptx::target architecture, int number);

// The properties of the device that open_emulator_backend would open.
device_properties emulator_properties(ptx::target architecture);

}  // namespace kaio::runtime
