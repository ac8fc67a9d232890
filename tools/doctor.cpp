// The devices of this machine, and the one that the runtime opens by default. The program is linked without
// the emulator, so that it builds in seconds: it asks which device is chosen, and opens none but a GPU.

#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <iomanip>
#include <iostream>
#include <memory>
#include <string>

#include "runtime/base/backend.hpp"

namespace {

struct emulator_chosen {
  kaio::ptx::target target;
};

std::string to_string(kaio::ptx::target target) {
  return "sm_" + std::to_string(target.sm) + (target.arch_specific ? "a" : "");
}

std::string to_string(kaio::ptx::isa_version version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

void print(const kaio::device_properties& properties) {
  if (properties.is_emulator()) {
    std::cout << "emulator   " << to_string(properties.target) << ", PTX "
              << to_string(properties.ptx_version) << '\n';
    return;
  }
  const std::string name = "cuda:" + std::to_string(properties.ordinal);
  std::cout << std::left << std::setw(10) << name << ' ' << properties.name << ", sm_" << properties.target.sm
            << ", " << properties.multiprocessors << " SMs, " << (properties.total_memory >> 20U)
            << " MiB, driver for CUDA " << properties.driver_version / 1000 << '.'
            << properties.driver_version % 1000 / 10 << ", PTX " << to_string(properties.ptx_version) << '\n';
}

}  // namespace

// In place of the emulator's.
std::unique_ptr<kaio::runtime::backend> kaio::runtime::open_emulator_backend(ptx::target architecture, int) {
  throw emulator_chosen{architecture};
}

// The device that is opened where a program names none.
static std::string opened_by_default() {
  try {
    return "opened by default: " + std::string(kaio::device::open().description());
  } catch (const emulator_chosen& chosen) {
    return "opened by default: emulator (" + to_string(chosen.target) + ")";
  } catch (const kaio::error& error) {
    return "opening the default device failed: " + std::string(error.message());
  }
}

int main() {
  for (const auto& properties : kaio::device::available()) print(properties);
  std::cout << opened_by_default() << '\n';
}
