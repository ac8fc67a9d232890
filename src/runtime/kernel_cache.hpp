#pragma once
// The kernels that are loaded on one device. A launch looks its kernel up here without a lock: an
// open-addressing table of atomic pointers, which is replaced by a larger one when it fills. Tables and
// kernels stay until the device closes, so that a reader never meets a freed one.
//
//   const loaded_kernel* code = cache.find(kernel);              // some nanoseconds; null if not loaded
//   if (!code) code = &cache.load(kernel, [&] { return device.load(kernel); });

#include <kaio/ptx/kernel_image.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/backend.hpp"

namespace kaio::runtime {

class kernel_cache {
 public:
  kernel_cache();

  const loaded_kernel* find(const ptx::kernel_image& kernel) const noexcept {
    const table& t = *table_.load(std::memory_order_acquire);
    for (std::size_t slot = hash(&kernel);; ++slot) {
      const loaded_kernel* candidate = t.slots[slot & t.mask].load(std::memory_order_acquire);
      if (!candidate || candidate->is_of(kernel)) return candidate;
    }
  }

  // Finds the kernel, or loads it with `loader`, once, whatever number of threads ask for it at a time;
  // different kernels load concurrently. An exception of the loader is passed on, and the next call tries
  // again.
  const loaded_kernel& load(const ptx::kernel_image& kernel,
                            const std::function<std::unique_ptr<loaded_kernel>()>& loader);

  // Frees all code. No launch may be in flight.
  void clear() noexcept;

 private:
  struct table {
    explicit table(std::size_t size) : mask(size - 1), slots(new std::atomic<const loaded_kernel*>[size]()) {}
    std::size_t mask;
    std::unique_ptr<std::atomic<const loaded_kernel*>[]> slots;
  };

  static std::size_t hash(const ptx::kernel_image* image) noexcept {
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(image);
    return (address >> 3) * 0x9e3779b97f4a7c15u >> 32;
  }
  void insert(const loaded_kernel& code);

  std::atomic<const table*> table_;
  std::mutex changing_;
  std::condition_variable changed_;
  std::vector<const ptx::kernel_image*> loading_;
  std::vector<std::unique_ptr<loaded_kernel>> kernels_;
  std::vector<std::unique_ptr<table>> tables_;  // the last one is in use
};

}  // namespace kaio::runtime
