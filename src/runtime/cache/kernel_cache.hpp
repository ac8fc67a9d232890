#pragma once
// The kernels that are loaded on one device, by their content. A copy of an image finds the kernel of the
// original; a rebuilt library never finds the kernel that was at its address before. A launch looks its kernel
// up without a lock, in an open-addressing table of atomic pointers. A full table is replaced by a larger one.
// Tables and kernels stay until the device closes, so no reader meets a freed one.
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
    const ptx::text_hash hash = ptx::hash_of_text(kernel);
    for (std::size_t slot = first_slot(hash);; ++slot) {
      const loaded_kernel* candidate = t.slots[slot & t.mask].load(std::memory_order_acquire);
      if (!candidate || candidate->content().is_of(kernel, hash)) return candidate;
    }
  }

  // Finds the kernel, or loads it with `loader`: once, even if several threads ask for it at the same time.
  // Different kernels load concurrently. If the loader throws, the exception is passed on, and the next call
  // tries again.
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

  static std::size_t first_slot(const ptx::text_hash& hash) noexcept { return hash.high >> 32; }
  void insert(const loaded_kernel& code);

  std::atomic<const table*> table_;
  std::mutex changing_;
  std::condition_variable changed_;
  std::vector<const kernel_content*> loading_;  // each on the stack of the thread that loads it
  std::vector<std::unique_ptr<loaded_kernel>> kernels_;
  std::vector<std::unique_ptr<table>> tables_;  // the last one is in use
};

}  // namespace kaio::runtime
