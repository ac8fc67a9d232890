#include <kaio/runtime/device.hpp>

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "runtime/base/log.hpp"
#include "runtime/base/precompiled.hpp"
#include "runtime/context.hpp"
#include "runtime/device_choice.hpp"
#include "runtime/driver/cuda_devices.hpp"
#include "runtime/validate.hpp"

namespace kaio::runtime {

namespace {

detail::context_ref open_ordinal(int ordinal) {
  return ordinal == emulator_ordinal
             ? detail::context::open_emulator(emulator_architecture(std::getenv("KAIO_EMULATOR_ARCH")))
             : detail::context::open_gpu(ordinal);
}

// Whether there is a GPU to open by default. If there is none, a warning says where kernels run instead, since
// the emulator is slow; KAIO_DEVICE=emulator chooses it without a word.
bool has_gpu() {
  try {
    return driver::device_count() > 0;
  } catch (const invalid_argument&) {
    throw;  // a setting is wrong
  } catch (const error& e) {
    std::string_view why = e.message();
    why.remove_prefix(why.starts_with("kaio: ") ? 6 : 0);
    log().warn("the emulator is used instead of a GPU: {}", why);
  }
  return false;
}

}  // namespace

device::device(detail::context_ref context) noexcept
    : context_(std::move(context)), stream_(context_, context_->default_stream(), false) {}

device::device(const device& other) noexcept : device(other.context_) {}

device& device::operator=(const device& other) noexcept {
  if (this != &other) {
    context_ = other.context_;
    stream_ = runtime::stream(context_, context_->default_stream(), false);
  }
  return *this;
}

device device::open() {
  const char* wanted = std::getenv("KAIO_DEVICE");
  if (wanted && *wanted) return device(open_ordinal(ordinal_of(wanted, "KAIO_DEVICE")));
  return device(open_ordinal(has_gpu() ? 0 : emulator_ordinal));
}

device device::open(std::string_view name) {
  return device(open_ordinal(ordinal_of(name, "the name given to device::open")));
}

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

stream device::create_stream() const {
  return runtime::stream(context_, context_->use().create_stream(), true);
}
event device::create_event() const { return event(context_, context_->use().create_event()); }

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

void device::synchronize() const { context_->use().synchronize(); }

}  // namespace kaio::runtime
