// The limits of the emulated device, which are known without the emulator itself.

#include <cstring>

#include "emulator/program/architecture.hpp"
#include "host/system/memory.hpp"
#include "runtime/base/backend.hpp"

namespace kaio::runtime {

namespace {

// The L2 cache of the architecture's largest GPU, which represents it: V100, T4, A100, GA102, L40, H100, B200,
// GB202.
std::uint32_t l2_bytes_of(ptx::target target) {
  constexpr std::uint32_t mib = 1024 * 1024;
  switch (target.sm) {
    case 70: return 6 * mib;
    case 75: return 4 * mib;
    case 80: return 40 * mib;
    case 86: return 6 * mib;
    case 89: return 96 * mib;
    case 90: return 50 * mib;
    default: return target.sm >= 120 ? 128 * mib : 126 * mib;
  }
}

}  // namespace

device_properties emulator_properties(ptx::target target) {
  const emulator::architecture device = emulator::architecture_of(target);
  device_properties p;
  std::memcpy(p.name, "emulator", sizeof "emulator");
  p.target = target;
  p.multiprocessors = device.multiprocessors;
  p.total_memory = host::physical_memory();
  p.max_threads_per_block = device.threads_per_block;
  p.max_block = {device.block_x, device.block_y, device.block_z};
  p.max_grid = {device.grid_x, device.grid_y, device.grid_z};
  p.max_threads_per_multiprocessor = device.threads_per_multiprocessor;
  p.registers_per_block = 65536;
  p.registers_per_multiprocessor = 65536;
  p.max_blocks_per_multiprocessor = device.blocks_per_multiprocessor;
  p.max_blocks_per_cluster = device.blocks_per_cluster;
  p.l2_bytes = l2_bytes_of(target);
  p.shared_per_block = device.static_shared_per_block;
  p.shared_per_block_optin = device.shared_per_block;
  p.shared_per_multiprocessor = device.shared_per_multiprocessor;
  p.warp_size = emulator::warp_lanes;
  p.ptx_version = {99, 99};  // a text of any version
  return p;
}

}  // namespace kaio::runtime
