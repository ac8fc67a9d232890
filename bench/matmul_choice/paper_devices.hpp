#pragma once
// Devices as the choice of a kernel sees them, so that it can be asked for GPUs that are not there.
// Multiprocessors, clocks (the boost clock), memory and shared memory are those of NVIDIA's architecture
// papers; the newest PTX ISA is that of a driver for CUDA 13.0.

#include <kaio/runtime/properties.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kaio::bench {

inline std::vector<device_properties> paper_devices() {
  std::vector<device_properties> result;
  const auto add = [&](std::string_view name, std::uint16_t sm, bool arch_specific,
                       std::uint32_t multiprocessors, std::uint32_t clock_mhz, std::uint32_t memory_mhz,
                       std::uint32_t bus_bits, std::uint32_t l2_mib, std::uint32_t optin_kib) {
    device_properties d;
    name.copy(d.name, sizeof d.name - 1);
    d.ordinal = 0;
    d.target = {sm, arch_specific};
    d.multiprocessors = multiprocessors;
    d.clock_khz = clock_mhz * 1000;
    d.memory_clock_khz = memory_mhz * 1000;
    d.memory_bus_bits = bus_bits;
    d.l2_bytes = l2_mib << 20;
    d.shared_per_block = 48u << 10;
    d.shared_per_block_optin = optin_kib << 10;
    d.max_threads_per_block = 1024;
    d.ptx_version = {9, 0};
    result.push_back(d);
  };
  add("V100", 70, false, 80, 1530, 877, 4096, 6, 96);
  add("T4", 75, false, 40, 1590, 5001, 256, 4, 64);
  add("A100", 80, false, 108, 1410, 1593, 5120, 40, 163);
  add("A10", 86, false, 72, 1695, 6251, 384, 6, 99);
  add("L4", 89, false, 58, 2040, 6251, 192, 48, 99);
  add("RTX 4090", 89, false, 128, 2520, 10501, 384, 72, 99);
  add("H100", 90, true, 132, 1980, 2619, 5120, 50, 227);
  add("H200", 90, true, 132, 1980, 3201, 6144, 60, 227);
  return result;
}

}  // namespace kaio::bench
