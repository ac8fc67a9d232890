#pragma once
// Rates of each device generation for the cost models: operations per clock and multiprocessor, and memory
// bandwidth. Sources: NVIDIA's architecture papers.

#include <kaio/runtime/properties.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace kaio::ops {

// Rates from compute capability `sm` on: tensor_* by wgmma, mma_* by mma.sync, fma_32 by f32 multiply-adds.
struct machine_rates {
  std::uint32_t sm;
  double tensor_16, tensor_8;
  double mma_16, mma_8, mma_tf32;
  double fma_32;
  double dram_bytes_per_second;  // for drivers that do not report clocks
};

inline constexpr machine_rates generations[] = {
    {.sm = 70,
     .tensor_16 = 0,
     .tensor_8 = 0,
     .mma_16 = 1024,
     .mma_8 = 0,
     .mma_tf32 = 0,
     .fma_32 = 128,
     .dram_bytes_per_second = 0.9e12},
    {.sm = 75,
     .tensor_16 = 0,
     .tensor_8 = 0,
     .mma_16 = 1024,
     .mma_8 = 2048,
     .mma_tf32 = 0,
     .fma_32 = 128,
     .dram_bytes_per_second = 0.3e12},
    {.sm = 80,
     .tensor_16 = 0,
     .tensor_8 = 0,
     .mma_16 = 2048,
     .mma_8 = 4096,
     .mma_tf32 = 1024,
     .fma_32 = 128,
     .dram_bytes_per_second = 1.5e12},
    {.sm = 86,
     .tensor_16 = 0,
     .tensor_8 = 0,
     .mma_16 = 512,
     .mma_8 = 1024,
     .mma_tf32 = 256,
     .fma_32 = 256,
     .dram_bytes_per_second = 0.9e12},
    {.sm = 90,
     .tensor_16 = 4096,
     .tensor_8 = 8192,
     .mma_16 = 2500,
     .mma_8 = 4096,
     .mma_tf32 = 1100,
     .fma_32 = 256,
     .dram_bytes_per_second = 4.1e12},
};
inline constexpr std::size_t generation_count = std::size(generations);

// The index in `generations` of the newest generation that is no newer than the device.
inline std::size_t generation_of(const device_properties& device) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < generation_count; ++i)
    if (generations[i].sm <= device.target.sm) found = i;
  return found;
}

inline double multiprocessors_of(const device_properties& device) {
  return device.multiprocessors == 0 ? 1 : device.multiprocessors;
}
// Clocks per second.
inline double clock_of(const device_properties& device) {
  return device.clock_khz != 0 ? device.clock_khz * 1e3 : 1.5e9;
}

// Bytes per second at `share` of the memory's peak.
inline double dram_bandwidth(const device_properties& device, double share) {
  constexpr double usual_share = 0.87;  // the share of the peak in the table's bandwidths
  if (device.memory_clock_khz == 0 || device.memory_bus_bits == 0)
    return generations[generation_of(device)].dram_bytes_per_second / usual_share * share;
  return 2.0 * device.memory_clock_khz * 1e3 * device.memory_bus_bits / 8 * share;
}

}  // namespace kaio::ops
