#pragma once
// How long a kernel takes, without running it. The model is that of DeepGEMM's heuristics, with the fixed
// costs that decide among small problems:
//
//   waves = tiles / (blocks that run at once), rounded up
//   step  = max(tensor clocks, shared memory clocks, L2 clocks)           of a block, one step along K
//   block = start + steps * step + store
//   time  = launch + the longer of computing = waves * block / clock and reading = bytes / DRAM bandwidth
//           + a part of the shorter, which the other does not hide whole [+ a second kernel]
//
//   tensor clocks   2 m n k / the operations of a multiprocessor in a clock / the blocks that share it
//   shared clocks   the bytes that the multiplications read, 128 in a clock
//   L2 clocks       the bytes of A and B that a block loads, those once that a cluster shares, by the lesser of
//                   bytes a multiprocessor takes in a clock, and its part of L2's bandwidth
//
// All constants are in cost.cpp in one table, a row for each generation of devices.

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// What the model knows of a device.
struct cost_machine {
  std::uint32_t sm;                // the generation from which on the row holds
  double tensor_16;                // operations of a multiprocessor in a clock, operands of 16 bits: wgmma
  double tensor_8;                 // of 8 bits: wgmma
  double mma_16, mma_8, mma_tf32;  // by mma.sync
  double fma_32;                   // by multiply-adds of f32
  double l2_of_one;                // bytes in a clock: what one multiprocessor takes
  double l2_of_all;                // for each multiprocessor where all of them pull
  double shared;                   // bytes in a clock of a multiprocessor
  double dram_share;               // of the bandwidth that the memory's clock gives
  double dram_bytes_per_second;    // where the driver does not report clocks
  double launch_seconds;           // from one kernel to the next
  double second_kernel_seconds;    // of a reduction after it
  double start_clocks;             // of a block until its first multiplication: loads of the first stage
  double cluster_clocks;           // more, where a cluster's blocks wait for each other
  double exchange_clocks;          // of the sums of a split, for each block that is read
  double step_clocks;              // of a step that nothing hides: barriers, addresses
  double store_bytes;              // in a clock of a multiprocessor, on the way to C
  double not_hidden;               // of the shorter of computing and reading
};
const cost_machine& machine_of(const device_properties& device);

}  // namespace kaio::ops
