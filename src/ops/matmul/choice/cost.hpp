#pragma once
// The cost model of matmul's kernels: how long a kernel takes, without running it. Its form is that of
// DeepGEMM's heuristics, with the fixed costs that decide among small problems:
//
//   waves = tiles / (blocks that run at once); a partial last wave counts as more than its share, up to 1. If
//           its tiles are computed in halves, it counts as half a wave or a little more
//   step  = max(tensor clocks, shared clocks, L2 clocks) + single vectors + crossing lines + single copies
//           + a fixed part, which only other blocks of the multiprocessor hide
//   block = start + steps * step + store. A persistent kernel starts once; in other kernels the blocks of
//           later waves start while earlier ones end
//   time  = launch + max(computing, reading) + a part of min(computing, reading) [+ a second kernel]
//           computing = waves * block / clock, reading = bytes / DRAM bandwidth
//           The part is what the longer one does not hide: larger for the first wave than for later ones
//
//   tensor clocks   2 m n k / (operations of a multiprocessor per clock) * (blocks of the fullest one)
//   shared clocks   (bytes that the multiplications read) / (bytes per clock)
//   L2 clocks       (bytes of A and B that a block loads) / min(bytes per clock of one multiprocessor, its
//                   part of L2's bandwidth). Bytes that a cluster shares count once; a short line takes a
//                   copy's time
//   single vectors  tensor copies by 16 bytes: lines at odd multiples of 16 bytes, elements outside
//   crossing lines  a line of a tile that does not begin at a line of L2 is two requests: clocks of the
//                   multiprocessor that issues them, and of L2, which all of them share
//   start           until the blocks of a cluster have met and exchanged the sums of a split; longer if more
//                   multiprocessors begin at once
//
// A cost has two parts: what a kernel does for a call (kernel_work), and how long that takes (seconds_of).
// The first follows from the kernel and the call alone. The constants of the second are fitted to measured
// times by bench/matmul_choice/fit.py, which writes fitted.hpp; of a device only its rates are looked up.

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// Costs of a generation of devices. Bytes and clocks are of one multiprocessor.
struct device_costs {
  double l2_of_one;              // bytes per clock that one multiprocessor takes
  double l2_of_all;              // bytes per clock for each multiprocessor if all of them pull
  double crossing_clocks;        // per line of L2's length that begins inside one, on the multiprocessor
  double crossing_l2_clocks;     // per such line in L2, if all of them pull
  double short_line_clocks;      // per short line in a tensor copy
  double shared;                 // bytes per clock of shared memory
  double dram_share;             // fraction of the bandwidth that the memory's clock gives
  double launch_seconds;         // from one kernel to the next
  double second_kernel_seconds;  // a reduction after the product
  double sum_bytes;              // bytes per clock of the sums that it reads
  double cluster_clocks;         // until a cluster's blocks have met
  double contention_clocks;      // added to a start if all multiprocessors begin at once
  double exchange_clocks;        // per block whose sums of a split are read
  double exchange_bytes;         // bytes per clock of these sums
  double copy_clocks;            // per element that is copied on its own
  double odd_clocks;             // per 16 bytes of a tensor copy, in lines at odd multiples of 16 bytes
  double outside_clocks;         // per 16 bytes of a tensor copy, outside the operand
};

// Costs of a family of kernels. The clocks of a term are per 32 elements of C.
struct family_costs {
  double start_clocks;    // from a block's start to its first multiplication, for kernels without a row
  double rate;            // fraction of the device's operations per clock that these kernels reach
  double step_clocks;     // per step along K of these kernels; only other resident blocks hide them
  double restart;         // fraction of start_clocks that a block of a later wave takes
  double store_bytes;     // bytes per clock on the way to C
  double general_clocks;  // the way through all epilogue arguments
  double outside;         // weight of a tile's element outside C, relative to one inside
  double bias_clocks, addend_clocks;  // per tensor that is added: a row of it, or all of it
  double gelu_clocks, gelu_tanh_clocks, silu_clocks;
  double terms_share;  // fraction of addend and activation clocks with tile_terms; sums begin at the bias
  double not_hidden;   // fraction of the shorter of computing and reading, in the first wave
  double later_not_hidden;  // fraction in later waves
  double last_wave;         // weight of a partial last wave: 0 by its blocks, 1 as a full one
  double half_wave;         // weight of a wave whose tiles are computed in halves
};

// The configuration of a kernel, and its measured costs as above.
struct kernel_costs {
  matmul_family family;
  matmul_precision precision;
  std::uint16_t sm;
  std::uint32_t element_bytes, m, n, k, stages, cluster, cluster_splits, resident;  // cluster: its blocks
  std::uint32_t alignment;  // bytes, of lines: the larger of A's and B's
  bool across, general;
  double start_clocks, rate, step_clocks;
};

// The work of a kernel for a call on a device.
struct kernel_work {
  double blocks, at_once, steps;     // blocks of the grid, blocks that run together, steps along K per block
  bool clusters, exchanges, halves;  // halves: few tiles of a last wave are computed in halves
  double cluster_splits;
  double operations, operations_in_clock;     // per step; at most, per multiprocessor
  double shared_bytes, loaded_bytes, copied;  // per step; copied: elements or words copied on their own
  double crossing_bytes;                      // bytes of loaded_bytes in lines that begin inside a line of L2
  double short_lines;                         // per step: lines across K that are shorter than 32 bytes
  double odd_vectors, outside_vectors;        // per step: 16-byte pieces that tensor copies take singly
  double results, outside, result_bytes;      // elements per block in C, and outside it; bytes of an element
  double bias, addends;                       // tensors that are added: with one row, with all rows
  matmul_activation activation;
  double read_and_written, sums;  // bytes of memory; bytes of the sums of splits
};
kernel_work work_of(const matmul_variant& v, const matmul_call& call, const device_properties& device);
double seconds_of(const kernel_work& work, const matmul_variant& v, const device_properties& device);

}  // namespace kaio::ops
