#include "c/call/devices.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "c/call/error.hpp"
#include "runtime/driver/cuda_devices.hpp"
#include "runtime/open_devices.hpp"

namespace kaio::c {

namespace {

constexpr int most_devices = 64;  // GPUs, and as many emulators

// Open devices by number. Static objects of a program may use them in their destructors, so they are never destroyed.
struct device_table {
  std::array<std::atomic<const runtime::device*>, most_devices> gpus{}, emulators{};
  std::mutex opening;
  std::atomic<std::uint64_t> closed{0};  // devices so far
};
device_table& table() {
  static device_table& the_table = *new device_table;
  return the_table;
}

bool is_gpu(DLDeviceType type) noexcept {
  return type == kDLCUDA || type == kDLCUDAHost || type == kDLCUDAManaged;
}

std::string name_of(const DLDevice& device) {
  return "device (" + std::to_string(static_cast<int>(device.device_type)) + ", " +
         std::to_string(device.device_id) + ")";
}

std::atomic<const runtime::device*>& slot_of(const char* operation, const char* what,
                                             const DLDevice& device) {
  const bool gpu = is_gpu(device.device_type);
  if (!gpu && device.device_type != kDLExtDev && device.device_type != kDLCPU)
    refuse(operation,
           std::string(what) + " is on " + name_of(device) +
               "; kaio takes memory of a GPU (kDLCUDA), of its emulator (kDLExtDev, by kaio_allocate) or of "
               "the CPU (kDLCPU), which the emulator uses");
  if (device.device_id < 0 || device.device_id >= most_devices)
    refuse(operation, std::string(what) + " is on " + name_of(device) + "; numbers of devices are 0 to " +
                          std::to_string(most_devices - 1));
  const auto number = static_cast<std::size_t>(device.device_id);
  return gpu ? table().gpus[number] : table().emulators[number];
}

[[gnu::noinline, gnu::cold]] const runtime::device& open_slot(std::atomic<const runtime::device*>& slot,
                                                              const DLDevice& device) {
  const std::lock_guard lock(table().opening);
  if (const runtime::device* const open = slot.load(std::memory_order_acquire)) return *open;
  const std::string name =
      (is_gpu(device.device_type) ? "cuda:" : "emulator:") + std::to_string(device.device_id);
  auto opened = std::make_unique<const runtime::device>(runtime::device::open(name));
  slot.store(opened.get(), std::memory_order_release);
  return *opened.release();
}

// A GPU is used in the context that is current on this thread, if that is one of this GPU: a program that made its own
// context has its memory and streams there. Else it is used in its primary context, which `primary` is in.
const runtime::device& in_current_context(const runtime::device& primary) {
  void* const now = runtime::driver::current_handle();
  if (now == nullptr || now == runtime::detail::native_context_of(primary)) [[likely]]
    return primary;
  struct foreign {
    void* context = nullptr;
    const runtime::device* primary = nullptr;
    std::uint64_t closed = 0;  // table().closed when it was found
    std::optional<runtime::device> gpu;
  };
  thread_local foreign last;
  const std::uint64_t closed = table().closed.load(std::memory_order_acquire);
  if (last.context != now || last.primary != &primary || last.closed != closed)
    last = {now, &primary, closed, runtime::device::current(primary.properties().ordinal)};
  return last.gpu ? *last.gpu : primary;
}

// N of "<kind>:N".
std::optional<std::int32_t> number_after(std::string_view kind, std::string_view name) {
  if (!name.starts_with(kind) || name.substr(kind.size()).substr(0, 1) != ":") return {};
  const std::string_view digits = name.substr(kind.size() + 1);
  std::int32_t number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failed != std::errc() || end != digits.data() + digits.size() || number < 0) return {};
  return number;
}

// The device that device::open() takes: its name follows from the environment and the machine.
DLDevice default_device() {
  const runtime::device chosen = runtime::device::open();
  if (chosen.is_emulator()) return {kDLExtDev, std::max(chosen.properties().emulator, 0)};
  return {kDLCUDA, chosen.properties().ordinal};
}

}  // namespace

DLDevice device_named(const char* operation, const char* name) {
  if (name == nullptr) return default_device();
  const std::string_view text = name;
  if (text == "emulator") return {kDLExtDev, 0};
  if (const auto number = number_after("emulator", text)) return {kDLExtDev, *number};
  if (const auto number = number_after("cuda", text)) return {kDLCUDA, *number};
  refuse(operation, "name is '" + std::string(text) + "'; write cuda:N, emulator or emulator:N");
}

const runtime::device& device_of(const char* operation, const char* what, const DLDevice& device) {
  auto& slot = slot_of(operation, what, device);
  const runtime::device* open = slot.load(std::memory_order_acquire);
  if (open == nullptr) [[unlikely]]
    open = &open_slot(slot, device);
  return is_gpu(device.device_type) ? in_current_context(*open) : *open;
}

void forget(const char* operation, const DLDevice& device) {
  ++table().closed;
  delete slot_of(operation, "device", device).exchange(nullptr);
}

bool same_device(const DLDevice& a, const DLDevice& b) noexcept {
  return a.device_id == b.device_id && is_gpu(a.device_type) == is_gpu(b.device_type);
}

}  // namespace kaio::c
