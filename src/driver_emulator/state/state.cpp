#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "emulator/run/worker_pool.hpp"
#include "emulator/waiting/launch_threads.hpp"
#include "host/lasting.hpp"
#include "runtime/base/backend.hpp"
#include "runtime/base/text.hpp"
#include "runtime/device_choice.hpp"

#include <kaio/runtime/error.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace kaio::driver_emulator {
namespace {

constexpr int most_devices = 64;

// Set while static objects are destroyed, after which no kernel can run.
std::atomic<bool> over{false};

int device_count_of(const char* value) {
  if (value == nullptr || *value == '\0') return 1;
  int count = 0;
  const std::string_view text = value;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed != std::errc() || end != text.data() + text.size() || count < 0 || count > most_devices) {
    std::fprintf(stderr, "kaio: KAIO_EMULATOR_DEVICES is '%s'; write a number from 0 to %d\n", value,
                 most_devices);
    refuse(CUDA_ERROR_INVALID_VALUE);
  }
  return count;
}

ptx::target architecture_of_environment() {
  const char* value = std::getenv("KAIO_EMULATOR_ARCH");
  if (value == nullptr || *value == '\0') return {90, true};
  try {
    return runtime::emulator_architecture(value);
  } catch (const error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

bool is_set(const char* name, std::string_view wanted) {
  const char* value = std::getenv(name);
  return value != nullptr && wanted == value;
}

}  // namespace

std::string device::name() const {
  return runtime::text("kaio emulator sm_", architecture.sm, architecture.arch_specific ? "a" : "");
}

graph::~graph() = default;

bool event::is_done() const { return !recorded || point.where->is_done(point.number); }

driver_state& state() {
  static auto* const s = host::make_lasting<driver_state>();
  if (over.load(std::memory_order_relaxed)) s->initialised = false;
  return *s;
}

machine_description& described_machine() {
  static auto* const machine = [] {
    auto* m = host::make_lasting<machine_description>();
    m->devices = device_count_of(std::getenv("KAIO_EMULATOR_DEVICES"));
    m->architecture = architecture_of_environment();
    return m;
  }();
  return *machine;
}

void make_devices() {
  driver_state& s = state();
  const machine_description& machine = described_machine();
  for (const auto& old : s.devices) {
    s.pools.take(old->default_pool);
    if (old->primary != nullptr) s.contexts.take(old->primary->handle);
  }
  s.devices.clear();
  s.driver_version = machine.driver_version;
  for (int i = 0; i < machine.devices; ++i) {
    auto d = std::make_unique<device>();
    d->ordinal = i;
    d->architecture = emulator::architecture_of(machine.architecture);
    d->memory_bytes = machine.memory_bytes != 0
                          ? machine.memory_bytes
                          : runtime::emulator_properties(machine.architecture).total_memory;
    auto pool = std::make_shared<memory_pool>();
    pool->where = d.get();
    d->default_pool = d->pool = s.pools.add(std::move(pool));
    s.devices.push_back(std::move(d));
  }
}

void initialise() {
  driver_state& s = state();
  if (over.load(std::memory_order_relaxed)) refuse(CUDA_ERROR_DEINITIALIZED);
  if (s.initialised) return;
  // The threads that run kernels are joined when the process ends. Their pool is made before the guard, so that
  // the driver ends before they do.
  emulator::worker_pool::shared();
  emulator::launch_threads::shared();
  static const struct end_of_process {
    ~end_of_process() { over = true; }
  } guard;
  s.delayed_streams = is_set("KAIO_STREAMS", "delayed");
  s.blocking_launches = is_set("CUDA_LAUNCH_BLOCKING", "1");
  if (s.devices.empty()) make_devices();
  s.initialised = true;
}

}  // namespace kaio::driver_emulator
