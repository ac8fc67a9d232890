#pragma once
// Caches a thread's recent choices: a choice costs some microseconds, and a network calls its layers again.

#include <kaio/runtime/properties.hpp>

#include <array>
#include <cstdint>
#include <optional>

#include "ops/choice/tune_store.hpp"

namespace kaio::ops {

// A key that differs between devices whose choices may differ.
inline std::uint64_t device_key(const device_properties& device) {
  std::uint64_t key = device.target.sm;
  key = key << 1 | (device.target.arch_specific ? 1u : 0u);
  key = key << 12 | device.multiprocessors;
  key = key << 8 | static_cast<std::uint64_t>(device.ordinal + 1);
  return key << 16 | std::uint64_t{device.ptx_version.major} << 8 | device.ptx_version.minor;
}

// Signature: has equality and hash(). Choice: a value, or a pointer into a table. One cache per thread.
template <class Signature, class Choice>
class recent_choices {
 public:
  // choose() returns the choice, or throws.
  template <class Choose>
  const Choice& find(const Signature& signature, const device_properties& device, const Choose& choose) {
    const std::uint64_t on = device_key(device), generation = tuning_generation();
    slot& found = slots_[signature.hash() % slots_.size()];
    if (!found.choice || found.generation != generation || found.device != on ||
        !(found.signature == signature))
      found = {signature, on, generation, choose()};
    return *found.choice;
  }

 private:
  struct slot {
    Signature signature;
    std::uint64_t device = 0, generation = 0;
    std::optional<Choice> choice;
  };
  std::array<slot, 64> slots_;
};

}  // namespace kaio::ops
