#pragma once
// One open device, shared by all its handles and everything made from them. It has the backend, the kernels
// loaded on it, and two streams of its own. Its address is the identity that buffers carry.

#include <kaio/runtime/detail/context_ref.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>

#include "runtime/base/backend.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/tensor_map_cache.hpp"

namespace kaio::runtime::detail {

class context {
 public:
  // A GPU is opened once: while a handle to it exists, opening it again gives the same context.
  static context_ref open_gpu(int ordinal);
  static context_ref open_emulator(ptx::target architecture);

  explicit context(std::unique_ptr<backend> device);
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context();

  // The device, for a call that uses it: throws the first cause if it was lost before.
  backend& use() {
    device_->failures().check(device_->description(), device_->remedy());
    return *device_;
  }
  // The device, for a call that gives something back to it.
  backend& device() noexcept { return *device_; }
  const device_properties& properties() const noexcept { return device_->properties(); }
  std::string_view description() const noexcept { return device_->description(); }

  backend::native_stream default_stream() const noexcept { return default_stream_; }
  // For upload, download and zero-filling: they wait for nothing else that is queued.
  backend::native_stream transfer_stream() const noexcept { return transfer_stream_; }

  const loaded_kernel* find(const ptx::kernel_image& kernel) const noexcept { return kernels_.find(kernel); }
  const loaded_kernel& load(const ptx::kernel_image& kernel);
  // The numbers that the device holds at once; both load the kernel.
  std::uint64_t resident_blocks(const ptx::kernel_image& kernel, std::uint32_t shared_bytes);
  std::uint64_t max_active_clusters(const ptx::kernel_image& kernel, const ptx::dim3& cluster,
                                    std::uint32_t shared_bytes);
  tensor_map_cache& tensor_maps() noexcept { return tensor_maps_; }

 private:
  friend void retain(context* c) noexcept;
  friend void release(context* c) noexcept;
  bool try_retain() noexcept;

  std::unique_ptr<backend> device_;
  kernel_cache kernels_;
  tensor_map_cache tensor_maps_;
  backend::native_stream default_stream_ = nullptr, transfer_stream_ = nullptr;
  std::atomic<std::size_t> references_{1};
};

}  // namespace kaio::runtime::detail
