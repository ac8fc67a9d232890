#include "emulator/program/architecture.hpp"

namespace kaio::emulator {

architecture architecture_of(ptx::target target) {
  architecture device;
  device.sm = target.sm;
  device.arch_specific = target.arch_specific;
  device.blocks_per_cluster = target.sm < 90 ? 1 : target.sm >= 120 ? 8 : 16;
  constexpr u32 kib = 1024;
  const auto multiprocessor = [&](u32 shared, u32 kept, u32 threads, u32 blocks) {
    device.shared_per_multiprocessor = shared;
    device.shared_kept_per_block = kept;
    device.shared_per_block = shared - kept;
    device.threads_per_multiprocessor = threads;
    device.blocks_per_multiprocessor = blocks;
  };
  switch (target.sm) {
    case 70: multiprocessor(96 * kib, 0, 2048, 32); break;
    case 75: multiprocessor(64 * kib, 0, 1024, 16); break;
    case 80: multiprocessor(164 * kib, kib, 2048, 32); break;
    case 86:
    case 88: multiprocessor(100 * kib, kib, 1536, 16); break;
    case 87: multiprocessor(164 * kib, kib, 1536, 16); break;
    case 89:
    case 120:
    case 121: multiprocessor(100 * kib, kib, 1536, 24); break;
    case 107: multiprocessor(228 * kib, kib, 1024, 16); break;
    case 110: multiprocessor(228 * kib, kib, 1536, 24); break;
    default: multiprocessor(228 * kib, kib, 2048, 32);
  }
  return device;
}

}  // namespace kaio::emulator
