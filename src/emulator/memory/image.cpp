#include "emulator/memory/image.hpp"

#include <atomic>
#include <utility>

namespace kaio::emulator {

u64 image_objects::add(object o) {
  static std::atomic<u64> last{0};
  const u64 handle = ++last;
  auto kept = std::make_shared<const object>(o);
  const std::lock_guard lock(mutex_);
  objects_.emplace(handle, std::move(kept));
  return handle;
}

bool image_objects::remove(u64 handle) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(handle);
  if (found == objects_.end() || found->second == nullptr) return false;
  found->second = nullptr;
  return true;
}

std::shared_ptr<const image_objects::object> image_objects::find(u64 handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(handle);
  return found == objects_.end() ? nullptr : found->second;
}

bool image_objects::was_removed(u64 handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(handle);
  return found != objects_.end() && found->second == nullptr;
}

}  // namespace kaio::emulator
