#pragma once
// The identity of a GPU for NVML, which numbers GPUs in another order than the driver does.
//
//   clock_sampler clock(bus_id(gpu));

#include "bench/matmul/shared_library.hpp"

#include <kaio/runtime/device.hpp>

#include <stdexcept>
#include <string>

namespace kaio::bench {

// "00000000:0B:00.0"; empty on the emulator. Throws if the driver does not know it.
inline std::string bus_id(const device& gpu) {
  if (gpu.is_emulator()) return {};
  const shared_library driver({"libcuda.so.1"});
  auto* const find = driver.function<int(int*, int)>("cuDeviceGet");
  auto* const name = driver.function<int(char*, int, int)>("cuDeviceGetPCIBusId");
  int number = 0;
  char text[64] = {};
  if (find == nullptr || name == nullptr || find(&number, gpu.properties().ordinal) != 0 ||
      name(text, static_cast<int>(sizeof text), number) != 0)
    throw std::runtime_error("kaio: the driver does not name the bus of " + std::string(gpu.description()) +
                             "; check that libcuda.so.1 is the driver's own");
  return text;
}

}  // namespace kaio::bench
