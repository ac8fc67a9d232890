#include "runtime/context.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <mutex>

#include "runtime/base/kernel_name.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/open_devices.hpp"
#include "runtime/pool.hpp"
#include "runtime/trace/work.hpp"
#include "runtime/validate.hpp"

namespace kaio::runtime::detail {

context::context(std::unique_ptr<backend> device) : device_(std::move(device)) {
  if (trace::is_on()) try {
      trace::device_opened(*device_, default_stream(), transfer_stream());
    } catch (...) {
      destroy_own_streams();
      throw;
    }
}

context::~context() {
  device_->drain();  // code must not be unloaded while it runs
  trace::device_closes(*device_);
  pool_ = pool_ref();
  destroy_own_streams();
  kernels_.clear();
}

void context::destroy_own_streams() noexcept {
  for (const auto* own : {&transfer_stream_, &default_stream_})
    if (own->load() != nullptr) device_->destroy_stream(own->load());
}

backend::native_stream context::own_stream(std::atomic<backend::native_stream>& s) {
  if (const auto made = s.load(std::memory_order_acquire)) return made;
  backend& device = use();
  const std::scoped_lock lock(changing_);
  if (s.load(std::memory_order_relaxed) == nullptr) {
    const auto fresh = device.create_stream(0);
    add_live(fresh);
    s.store(fresh, std::memory_order_release);
  }
  return s.load(std::memory_order_relaxed);
}

backend::native_stream context::create_stream(int priority) {
  const auto fresh = use().create_stream(priority);
  const std::scoped_lock lock(changing_);
  add_live(fresh);
  return fresh;
}

void context::add_live(backend::native_stream s) {
  try {
    live_streams_.push_back({s, ++last_serial_});
  } catch (...) {
    device_->destroy_stream(s);
    throw;
  }
}

void context::destroy_stream(backend::native_stream s) noexcept {
  {
    const std::scoped_lock lock(changing_);
    std::erase_if(live_streams_, [&](const live_stream& l) { return l.handle == s; });
  }
  device_->destroy_stream(s);
}

std::uint64_t context::serial_of(backend::native_stream s) {
  const std::scoped_lock lock(changing_);
  const auto found = std::find_if(live_streams_.begin(), live_streams_.end(),
                                  [&](const live_stream& l) { return l.handle == s; });
  return found != live_streams_.end() ? found->serial : 0;
}

void context::enable_access(context& other) {
  if (&other == this || reaches(&other)) return;
  backend &mine = use(), &theirs = other.use();
  const bool same_kind = properties().is_emulator() == other.properties().is_emulator();
  if (!same_kind || !mine.can_access(theirs))
    throw unsupported_device(text("kaio: ", description(), " cannot access the memory of ",
                                  other.description(), "; copy with kaio::copy, which needs no access"));
  mine.enable_access(theirs);
  {
    const std::scoped_lock lock(other.changing_);
    for (const backend::native_pool p : other.native_pools_) theirs.open_pool_to(p, mine);
    // A call that failed after this, and was made again, is one access.
    if (std::find(other.accessors_.begin(), other.accessors_.end(), this) == other.accessors_.end())
      other.accessors_.push_back(this);
  }
  const std::scoped_lock lock(changing_);
  for (auto& p : peers_) {
    const void* none = nullptr;
    if (reaches(&other) || p.compare_exchange_strong(none, &other)) return;
  }
  throw unsupported_device(text("kaio: ", description(), " accesses the memory of ", peers_.size(),
                                " devices already; that is the most"));
}

void context::forget_peer(const context* other) noexcept {
  const std::scoped_lock lock(changing_);
  for (auto& p : peers_)
    if (p.load() == other) p.store(nullptr);
  std::erase(accessors_, other);
}

pool_ref context::default_pool() {
  {
    const std::scoped_lock lock(changing_);
    if (pool_) return pool_;
  }
  pool_ref fresh(pool::make_default(*this));
  const std::scoped_lock lock(changing_);
  if (!pool_) std::swap(pool_, fresh);
  return pool_;
}

void context::set_default_pool(pool_ref p) {
  pool_ref before;
  const std::scoped_lock lock(changing_);
  before = std::exchange(pool_, std::move(p));
}

void context::add_native_pool(backend::native_pool p) {
  const std::scoped_lock lock(changing_);
  for (context* c : accessors_) device_->open_pool_to(p, *c->device_);
  native_pools_.push_back(p);
}

void context::remove_native_pool(backend::native_pool p) noexcept {
  const std::scoped_lock lock(changing_);
  std::erase(native_pools_, p);
}

bool context::try_retain() noexcept {
  std::size_t count = references_.load(std::memory_order_relaxed);
  while (count != 0) {
    if (references_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void retain(context* c) noexcept { c->references_.fetch_add(1, std::memory_order_relaxed); }

void release(context* c) noexcept {
  if (c->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  forget_open(c);
  delete c;
}

const loaded_kernel& context::load(const ptx::kernel_image& kernel) {
  check_image(kernel);
  note_kernel(kernel);
  return kernels_.load(kernel, [&] {
    check_kernel(kernel, properties(), description());
    trace::call traced("load", kernel.name);
    auto code = use().load(kernel);
    traced.loaded(*code, properties().is_emulator());
    return code;
  });
}

bool reaches(const void* device, const void* other) noexcept {
  return device == other || (device != nullptr && static_cast<const context*>(device)->reaches(other));
}

std::uint64_t context::resident_blocks(const ptx::kernel_image& kernel, std::uint32_t shared_bytes) {
  backend& used = use();
  const std::uint32_t dynamic = checked_shared(kernel, shared_bytes, properties(), description());
  const loaded_kernel* const code = find(kernel);
  return used.resident_blocks(code ? *code : load(kernel), kernel, dynamic);
}

std::uint64_t context::max_active_clusters(const ptx::kernel_image& kernel, const ptx::dim3& cluster,
                                           std::uint32_t shared_bytes) {
  const ptx::dim3 checked = checked_cluster(kernel, cluster, properties(), description());
  if (checked.count() == 1) return resident_blocks(kernel, shared_bytes);
  backend& used = use();
  const std::uint32_t dynamic = checked_shared(kernel, shared_bytes, properties(), description());
  const loaded_kernel* const code = find(kernel);
  return used.max_active_clusters(code ? *code : load(kernel), kernel, checked, dynamic);
}

}  // namespace kaio::runtime::detail
