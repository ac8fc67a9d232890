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
#include <string>
#include <string_view>

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

 private:
  kernel_content content_;
};

// A launch that passed every check. `values[i]` points at the bytes of argument i.
struct checked_launch {
  const ptx::kernel_image& kernel;
  ptx::dim3 grid;
  std::uint32_t dynamic_shared;  // bytes of a block, in addition to those that its text declares
  void** values;
  const ptx::argument* arguments;
  ptx::dim3 cluster;  // as the launch asks; zeros: as the kernel fixes it, or none
  bool programmatic;
};

class backend {
 public:
  using native_stream = void*;
  using native_event = void*;

  backend() = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  virtual ~backend() = default;

  const device_properties& properties() const noexcept { return properties_; }
  const std::string& description() const noexcept { return description_; }
  failure_latch& failures() noexcept { return failures_; }
  // Advice for when the device is lost.
  virtual std::string_view remedy() const noexcept = 0;

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
  virtual void copy_to_device(std::uint64_t to, const void* from, std::uint64_t bytes,
                              native_stream stream) = 0;
  virtual void copy_to_host(void* to, std::uint64_t from, std::uint64_t bytes, native_stream stream) = 0;
  virtual void copy_on_device(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                              native_stream stream) = 0;
  virtual void fill_zero(std::uint64_t to, std::uint64_t bytes, native_stream stream) = 0;

  virtual native_stream create_stream() = 0;
  virtual void destroy_stream(native_stream stream) noexcept = 0;
  virtual void synchronize_stream(native_stream stream) = 0;
  virtual bool stream_is_done(native_stream stream) = 0;
  virtual bool stream_is_capturing(native_stream stream) = 0;
  virtual void stream_wait(native_stream stream, native_event event) = 0;
  virtual void synchronize() = 0;
  virtual void drain() noexcept = 0;  // waits like synchronize, even if the work fails

  virtual native_event create_event() = 0;
  virtual void destroy_event(native_event event) noexcept = 0;
  virtual void record(native_event event, native_stream stream) = 0;
  virtual void synchronize_event(native_event event) = 0;
  virtual bool event_is_done(native_event event) = 0;
  virtual double elapsed_ms(native_event begin, native_event end) = 0;

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

// Opens GPU `ordinal`. Throws driver_missing, no_device, ...
std::unique_ptr<backend> open_cuda_backend(int ordinal);
std::unique_ptr<backend> open_emulator_backend(ptx::target architecture);

// The properties of the device that open_emulator_backend would open.
device_properties emulator_properties(ptx::target architecture);

}  // namespace kaio::runtime
