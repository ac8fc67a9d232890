#include "runtime/open_devices.hpp"

#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "host/lasting.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/context.hpp"
#include "runtime/device_choice.hpp"
#include "runtime/driver/cuda_devices.hpp"
#include "runtime/trace/recording.hpp"

namespace kaio::runtime::detail {

namespace {

// It outlives static objects, which may hold devices.
struct open_devices {
  std::mutex changing;
  std::vector<context*> all;
};

open_devices& devices() {
  static open_devices& instance = *host::make_lasting<open_devices>();
  return instance;
}

// The open device that `wanted` accepts, or null. `changing` is held.
template <class Wanted>
context_ref find(Wanted wanted) {
  for (context* c : devices().all)
    if (wanted(*c) && c->try_retain()) return context_ref(c);
  return {};
}

context_ref add(std::unique_ptr<backend> opened) {
  trace::start();
  auto fresh = std::make_unique<context>(std::move(opened));
  devices().all.push_back(fresh.get());
  log().info("opened {}", fresh->description());
  return context_ref(fresh.release());
}

// `changing` is held.
context_ref open_primary(int ordinal) {
  auto found = find([&](context& c) { return c.properties().ordinal == ordinal && c.device().is_primary(); });
  return found ? found : add(open_cuda_backend(ordinal));
}

// `changing` is held.
context_ref open_in(const driver::current_context& now) {
  if (auto found = find([&](context& c) { return c.device().native_context() == now.handle; })) return found;
  return now.is_primary ? open_primary(now.ordinal) : add(open_cuda_backend(now.ordinal, now.handle));
}

}  // namespace

context_ref open_gpu(int ordinal) {
  const std::scoped_lock lock(devices().changing);
  return open_primary(ordinal);
}

context_ref open_emulator(ptx::target architecture, int number) {
  const std::scoped_lock lock(devices().changing);
  if (number >= 0) {
    // One that was lost is opened anew.
    auto found = find(
        [&](context& c) { return c.properties().emulator == number && !c.device().failures().has_failed(); });
    if (found) return found;
  }
  return add(open_emulator_backend(architecture, number));
}

context_ref open_current() {
  const std::scoped_lock lock(devices().changing);
  if (void* const handle = driver::current_handle()) {
    if (auto found = find([&](context& c) { return c.device().native_context() == handle; })) return found;
    return open_in(driver::describe_current(handle));
  }
  throw no_device(
      "kaio: no CUDA context is current on this thread; make one current, or use device::open(\"cuda:N\")");
}

context_ref open_current_or_primary(int ordinal) {
  context_ref found;  // it may be the last handle of another GPU, whose end takes the lock
  const std::scoped_lock lock(devices().changing);
  if (void* const handle = driver::current_handle()) {
    found = find([&](context& c) { return c.device().native_context() == handle; });
    if (found && found->properties().ordinal == ordinal) return found;
    if (!found) {
      const driver::current_context now = driver::describe_current(handle);
      if (now.ordinal == ordinal) return open_in(now);
    }
  }
  return open_primary(ordinal);
}

namespace {
// The GPU whose memory an address is in; -1: none, or there are only emulators.
int gpu_of(std::uint64_t address) {
  try {
    return driver::ordinal_of_memory(address);
  } catch (const driver_missing&) {
  } catch (const no_device&) {
  }
  return -1;
}
}  // namespace

context_ref open_owner_of(std::uint64_t address) {
  if (const int ordinal = gpu_of(address); ordinal >= 0) {
    if (void* const in = driver::context_of_memory(address)) {
      const std::scoped_lock lock(devices().changing);
      if (auto found = find([&](context& c) { return c.device().native_context() == in; })) return found;
    }
    return open_current_or_primary(ordinal);
  }
  const std::scoped_lock lock(devices().changing);
  auto found =
      find([&](context& c) { return c.properties().emulator >= 0 && c.device().has_memory(address); });
  if (found) return found;
  throw invalid_argument(text("kaio: ", hexadecimal(address),
                              " is no memory of a GPU or of an open emulator with a number; pass an address "
                              "that was allocated on a device"));
}

context_ref find_open(const void* identity) noexcept {
  const std::scoped_lock lock(devices().changing);
  return find([&](const context& c) { return &c == identity; });
}

void* native_context_of(const device& d) noexcept {
  return const_cast<context*>(static_cast<const context*>(d.identity()))->device().native_context();
}

void forget_open(const context* c) noexcept {
  const std::scoped_lock lock(devices().changing);
  std::erase(devices().all, c);
  for (context* other : devices().all) other->forget_peer(c);
}

}  // namespace kaio::runtime::detail
