#include "runtime/cache/kernel_cache.hpp"

#include <algorithm>

namespace kaio::runtime {

namespace {
constexpr std::size_t first_size = 64;  // a power of two
}

kernel_cache::kernel_cache() {
  tables_.push_back(std::make_unique<table>(first_size));
  table_.store(tables_.back().get(), std::memory_order_release);
}

const loaded_kernel& kernel_cache::load(const ptx::kernel_image& kernel,
                                        const std::function<std::unique_ptr<loaded_kernel>()>& loader) {
  const kernel_content wanted(kernel);
  const auto others = [&] {
    return std::find_if(loading_.begin(), loading_.end(),
                        [&](const kernel_content* c) { return *c == wanted; });
  };
  std::unique_lock lock(changing_);
  changed_.wait(lock, [&] { return others() == loading_.end(); });
  if (const loaded_kernel* ready = find(kernel)) return *ready;
  loading_.push_back(&wanted);
  lock.unlock();

  const auto finished = [&] {
    loading_.erase(std::find(loading_.begin(), loading_.end(), &wanted));
    changed_.notify_all();
  };
  std::unique_ptr<loaded_kernel> fresh;
  try {
    fresh = loader();
    lock.lock();
    kernels_.push_back(std::move(fresh));
    insert(*kernels_.back());
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    finished();
    throw;
  }
  finished();
  return *kernels_.back();
}

void kernel_cache::insert(const loaded_kernel& code) {
  const auto put = [](const table& t, const loaded_kernel& entry) {
    std::size_t slot = first_slot(entry.content().hash());
    while (t.slots[slot & t.mask].load(std::memory_order_relaxed)) ++slot;
    t.slots[slot & t.mask].store(&entry, std::memory_order_release);
  };
  if (kernels_.size() * 2 <= tables_.back()->mask + 1) {
    put(*tables_.back(), code);
    return;
  }
  auto larger = std::make_unique<table>((tables_.back()->mask + 1) * 2);
  for (const auto& kernel : kernels_) put(*larger, *kernel);  // `code` is among them
  tables_.push_back(std::move(larger));
  table_.store(tables_.back().get(), std::memory_order_release);
}

void kernel_cache::clear() noexcept {
  for (const auto& t : tables_) {
    for (std::size_t i = 0; i <= t->mask; ++i) t->slots[i].store(nullptr, std::memory_order_relaxed);
  }
  kernels_.clear();
}

}  // namespace kaio::runtime
