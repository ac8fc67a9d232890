#pragma once
// One open device, shared by all its handles and everything made from them. It has the backend, the kernels
// loaded on it, its pool, and two streams of its own, which are created when they are first used. Its address is
// the identity that buffers carry. open_devices.hpp opens it.

#include <kaio/runtime/detail/context_ref.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "runtime/base/backend.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/cache/tensor_map_cache.hpp"

namespace kaio::runtime::detail {

class context {
 public:
  explicit context(std::unique_ptr<backend> device);
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context();

  // Adds a reference, unless the last one has gone.
  bool try_retain() noexcept;

  // The device, for a call that uses it: throws the first cause if it was lost before.
  backend& use() {
    device_->failures().check(device_->description(), device_->remedy());
    return *device_;
  }
  // The device, for a call that gives something back to it.
  backend& device() noexcept { return *device_; }
  const device_properties& properties() const noexcept { return device_->properties(); }
  std::string_view description() const noexcept { return device_->description(); }

  backend::native_stream default_stream() { return own_stream(default_stream_); }
  // For upload, download and zero-filling: they wait for nothing else that is queued.
  backend::native_stream transfer_stream() { return own_stream(transfer_stream_); }

  // For the stream objects of handles, which several threads may ask for at once.
  std::mutex& handles_changing() noexcept { return handles_changing_; }

  // Streams that kaio created. Whoever releases memory in the order of one asks whether it is still there.
  backend::native_stream create_stream(int priority);
  void destroy_stream(backend::native_stream s) noexcept;
  // A number that no other stream of the device has had; 0: kaio has no such stream.
  std::uint64_t serial_of(backend::native_stream s);

  // The devices whose memory this one can access.
  bool reaches(const void* identity) const noexcept {
    for (const auto& p : peers_)
      if (p.load(std::memory_order_acquire) == identity) return true;
    return false;
  }
  void enable_access(context& other);
  void forget_peer(const context* other) noexcept;

  // The pool of device::allocate(count, stream); made when it is first asked for.
  pool_ref default_pool();
  void set_default_pool(pool_ref p);
  // Pools of the driver, which are opened to the devices that access this one's memory.
  void add_native_pool(backend::native_pool p);
  void remove_native_pool(backend::native_pool p) noexcept;

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
  backend::native_stream own_stream(std::atomic<backend::native_stream>& s);
  void destroy_own_streams() noexcept;

  std::unique_ptr<backend> device_;
  kernel_cache kernels_;
  tensor_map_cache tensor_maps_;
  std::atomic<backend::native_stream> default_stream_{nullptr}, transfer_stream_{nullptr};
  std::mutex changing_, handles_changing_;
  struct live_stream {
    backend::native_stream handle;
    std::uint64_t serial;
  };
  void add_live(backend::native_stream s);  // destroys it where that fails
  std::vector<live_stream> live_streams_;
  std::uint64_t last_serial_ = 0;
  std::array<std::atomic<const void*>, 16> peers_{};
  std::vector<backend::native_pool> native_pools_;
  std::vector<context*> accessors_;  // devices that access this one's memory
  pool_ref pool_;
  std::atomic<std::size_t> references_{1};
};

}  // namespace kaio::runtime::detail
