#include <kaio/runtime/device.hpp>

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "runtime/base/log.hpp"
#include "runtime/base/precompiled.hpp"
#include "runtime/base/text.hpp"
#include "runtime/context.hpp"
#include "runtime/device_choice.hpp"
#include "runtime/driver/cuda_devices.hpp"
#include "runtime/open_devices.hpp"
#include "runtime/pool.hpp"
#include "runtime/trace/work.hpp"
#include "runtime/validate.hpp"

namespace kaio::runtime {

namespace {

detail::context_ref open_choice(const device_choice& c) {
  return c.is_gpu()
             ? detail::open_gpu(c.ordinal)
             : detail::open_emulator(emulator_architecture(std::getenv("KAIO_EMULATOR_ARCH")), c.emulator);
}

// Whether there is a GPU to open by default. If there is none, a warning says where kernels run instead, since
// the emulator is slow; KAIO_DEVICE=emulator chooses it without a word.
bool has_gpu() {
  try {
    return driver::device_count() > 0;
  } catch (const invalid_argument&) {
    throw;  // a setting is wrong
  } catch (const error& e) {
    log().warn("the emulator is used instead of a GPU: {}", without_prefix(e.message()));
  }
  return false;
}

}  // namespace

device::device(detail::context_ref context) noexcept : context_(std::move(context)) {}

device::device(const device& other) noexcept : device(other.context_) {}

device& device::operator=(const device& other) noexcept {
  if (this != &other) {
    context_ = other.context_;
    stream_ = runtime::stream();
    std::atomic_ref(has_stream_).store(false, std::memory_order_relaxed);
  }
  return *this;
}

device device::open() {
  const char* wanted = std::getenv("KAIO_DEVICE");
  if (wanted && *wanted) return device(open_choice(choice_of(wanted, "KAIO_DEVICE")));
  return device(open_choice({.ordinal = has_gpu() ? 0 : -1}));
}

device device::open(std::string_view name) {
  return device(open_choice(choice_of(name, "the name given to device::open")));
}

device device::of_current_context() { return device(detail::open_current()); }

device device::current(int ordinal) { return device(detail::open_current_or_primary(ordinal)); }

device device::of_pointer(std::uint64_t address) { return device(detail::open_owner_of(address)); }

int device::count() noexcept {
  try {
    return driver::device_count();
  } catch (...) {
    return 0;
  }
}

std::vector<device_properties> device::available() {
  std::vector<device_properties> devices;
  const int gpus = count();
  devices.reserve(static_cast<std::size_t>(gpus) + 1);
  for (int ordinal = 0; ordinal < gpus; ++ordinal) devices.push_back(driver::properties_of(ordinal));
  devices.push_back(emulator_properties(emulator_architecture(std::getenv("KAIO_EMULATOR_ARCH"))));
  return devices;
}

std::vector<device_properties> device::strict() {
  std::vector<device_properties> devices;
  for (const ptx::target target : strict_architectures(std::getenv("KAIO_STRICT")))
    devices.push_back(emulator_properties(target));
  return devices;
}

std::string_view device::name() const noexcept { return properties().name; }
std::string_view device::description() const noexcept { return context_->description(); }
const device_properties& device::properties() const noexcept { return context_->properties(); }
runtime::memory_info device::memory_info() const { return context_->use().memory_info(); }

// Each handle has its own stream object, of the one stream of the device.
stream& device::stream() const {
  const std::atomic_ref ready(has_stream_);
  if (!ready.load(std::memory_order_acquire)) {
    const auto native = context_->default_stream();
    const std::scoped_lock lock(context_->handles_changing());
    if (!ready.load(std::memory_order_relaxed)) {
      stream_ = runtime::stream(context_, native, runtime::stream::kind::of_device);
      ready.store(true, std::memory_order_release);
    }
  }
  return stream_;
}

stream device::create_stream(const stream_options& options) const {
  return runtime::stream(context_, context_->create_stream(options.priority), runtime::stream::kind::owned);
}
stream_priorities device::stream_priorities() const { return context_->use().stream_priorities(); }
event device::create_event() const { return event(context_, context_->use().create_event()); }

memory_pool device::create_pool(const memory_pool_options& options) const {
  return {context_, detail::pool_ref(detail::pool::make(*context_.get(), options))};
}
memory_pool device::pool() const { return {context_, context_->default_pool()}; }
void device::set_pool(const memory_pool& pool) const {
  if (!pool.pool_ || pool.context_.get() != context_.get())
    throw invalid_argument(text("kaio: set_pool on ", description(), " of a pool that is ",
                                pool.pool_ ? "on another device" : "null", "; create it on this device"));
  context_->set_default_pool(pool.pool_);
}

bool device::can_access(const device& other) const {
  if (context_.get() == other.context_.get()) return true;
  return is_emulator() == other.is_emulator() && context_->use().can_access(other.context_->device());
}
void device::enable_access(const device& other) const { context_->enable_access(*other.context_.get()); }

buffer<bool> device::upload(const std::vector<bool>& host) const {
  const auto bytes = std::make_unique<bool[]>(host.size());
  std::copy(host.begin(), host.end(), bytes.get());
  return upload<bool>(bytes.get(), host.size());
}

void device::warmup(const ptx::kernel_image& kernel) const {
  context_->use();
  if (!context_->find(kernel)) context_->load(kernel);
}

bool device::is_precompiled(const ptx::kernel_image& kernel) const {
  check_image(kernel);
  return !is_emulator() && has_precompiled(ptx::hash_of_text(kernel), properties().target);
}

std::uint64_t device::resident_blocks(const ptx::kernel_image& kernel, std::uint32_t shared_bytes) const {
  return context_->resident_blocks(kernel, shared_bytes);
}

std::uint64_t device::max_active_clusters(const ptx::kernel_image& kernel, const ptx::dim3& cluster,
                                          std::uint32_t shared_bytes) const {
  return context_->max_active_clusters(kernel, cluster, shared_bytes);
}

void device::set_budget(const budget& limits) const { context_->use().set_budget(limits); }

void device::cancel() const { context_->use().cancel(); }

void device::synchronize() const {
  backend& used = context_->use();
  const trace::call traced("synchronize device");
  used.synchronize();
}

}  // namespace kaio::runtime
