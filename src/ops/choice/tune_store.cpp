#include "ops/choice/tune_store.hpp"

#include <kaio/ops/tune.hpp>

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>

#include "ops/choice/tune_file.hpp"

namespace kaio::ops {

namespace {

struct store {
  std::shared_mutex mutex;
  std::map<std::string, tune_map, std::less<>> devices;  // devices whose files were read
};

store& the_store() {
  static store& it = *new store;  // never destroyed: the destructors of static objects may call operations
  return it;
}

std::atomic<std::uint64_t> generation{1};

// Everything except the call on which a measured choice depends.
std::string device_text(const device_properties& device) {
  std::string name;
  for (const char* c = device.name; *c != '\0'; ++c) name += *c > ' ' && *c <= '~' ? *c : '_';
  return name + " sm_" + std::to_string(device.target.sm) + (device.target.arch_specific ? "a" : "") + " " +
         std::to_string(device.multiprocessors) + " driver " + std::to_string(device.driver_version) +
         " kaio " + KAIO_VERSION;
}

}  // namespace

std::uint64_t tuning_generation() noexcept { return generation.load(std::memory_order_acquire); }

std::string find_tuned(const device_properties& device, std::string_view key) {
  const std::string text = device_text(device);
  store& s = the_store();
  {
    const std::shared_lock lock(s.mutex);
    if (const auto found = s.devices.find(text); found != s.devices.end()) {
      const auto entry = found->second.find(key);
      return entry == found->second.end() ? std::string() : entry->second;
    }
  }
  tune_map read = read_tuning(text);
  const std::unique_lock lock(s.mutex);
  const auto [found, inserted] = s.devices.try_emplace(text, std::move(read));
  const auto entry = found->second.find(key);
  return entry == found->second.end() ? std::string() : entry->second;
}

bool remember_tuned(const device_properties& device, std::string_view key, std::string_view variant,
                    bool use_file) {
  const std::string text = device_text(device);
  tune_map read = read_tuning(text);  // the file's entries first; the new one may replace them
  store& s = the_store();
  {
    const std::unique_lock lock(s.mutex);
    const auto [found, inserted] = s.devices.try_emplace(text, std::move(read));
    found->second.insert_or_assign(std::string(key), std::string(variant));
  }
  generation.fetch_add(1, std::memory_order_acq_rel);
  return use_file && write_tuning(text, key, variant);
}

void forget_tuning() noexcept {
  store& s = the_store();
  {
    const std::unique_lock lock(s.mutex);
    s.devices.clear();
  }
  generation.fetch_add(1, std::memory_order_acq_rel);
}

std::string tuning_folder() { return tune_folder(false); }

}  // namespace kaio::ops
