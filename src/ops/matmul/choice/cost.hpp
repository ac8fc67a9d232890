#pragma once
// How long a kernel takes, without running it. The form of the model is that of DeepGEMM's heuristics, with
// the fixed costs that decide among small problems:
//
//   waves = tiles / (blocks that run at once), the last one counted as whole only in part; where its tiles are
//           computed in halves, as half a one or a little more
//   step  = max(tensor clocks, shared memory clocks, L2 clocks) + single vectors + crossing lines + copies one by one
//           + a fixed part, which other blocks of the multiprocessor hide
//   block = start + steps * step + store; a persistent kernel starts once, and of others the blocks of later
//           waves start while earlier ones end
//   time  = launch + the longer of computing = waves * block / clock and reading = bytes / DRAM bandwidth
//           + a part of the shorter, which the other does not hide whole: the first wave's more than that of
//           later ones [+ a second kernel]
//
//   tensor clocks   2 m n k / the operations of a multiprocessor in a clock * the blocks of the
//                   multiprocessor that has most of them
//   shared clocks   the bytes that the multiplications read
//   L2 clocks       the bytes of A and B that a block loads, those once that a cluster shares, by the lesser of
//                   bytes a multiprocessor takes in a clock, and its part of L2's bandwidth; a short line takes
//                   a copy's time of its own
//   single vectors  what tensor copies take by 16 bytes: lines at odd multiples of 16 bytes, what is outside
//   crossing lines  a line of a tile that does not begin at a line of L2 is two requests: clocks of the
//                   multiprocessor that issues them, and of L2, which all of them share
//   start           of the kernel, until the blocks of a cluster have met and exchanged the sums of a split, and
//                   longer the more multiprocessors begin at once
//
// A cost has two parts: what a kernel does for a call, which follows from both alone (kernel_work), and how
// long that takes (seconds_of). The constants of the second are fitted to measured times by
// bench/matmul_choice/fit.py, which writes fitted.hpp; of a device, only its rates are looked up.

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// Of a generation of devices. Bytes and clocks are of one multiprocessor.
struct device_costs {
  double l2_of_one;              // bytes in a clock: what one multiprocessor takes
  double l2_of_all;              // for each multiprocessor where all of them pull
  double crossing_clocks;        // of a line of L2's length that begins inside one, on the multiprocessor
  double crossing_l2_clocks;     // and where all of them pull, in L2
  double short_line_clocks;      // of a short line in a tensor copy
  double shared;                 // bytes in a clock
  double dram_share;             // of the bandwidth that the memory's clock gives
  double launch_seconds;         // from one kernel to the next
  double second_kernel_seconds;  // of a reduction after it
  double sum_bytes;              // in a clock: of the sums that it reads
  double cluster_clocks;         // until a cluster's blocks have met
  double contention_clocks;      // of a start where all multiprocessors begin at once
  double exchange_clocks;        // of the sums of a split, for each block that is read
  double exchange_bytes;         // in a clock: of these sums
  double copy_clocks;            // of one element that is copied on its own
  double odd_clocks;             // of 16 bytes of a tensor copy, in lines at odd multiples of 16 bytes
  double outside_clocks;         // and of those that are outside of the operand
};

// Of a family of kernels. The clocks of a term are those of 32 elements of C.
struct family_costs {
  double start_clocks;    // of a block until its first multiplication, where the kernel has no row of its own
  double rate;            // of the device's operations in a clock, the share that it reaches there
  double step_clocks;     // and of a step along K, what only other blocks hide
  double restart;         // of start_clocks, the part that a block of a later wave takes
  double store_bytes;     // in a clock, on the way to C
  double general_clocks;  // of the way through all epilogue arguments
  double outside;         // elements of a tile outside of C: as how much of one inside they count
  double bias_clocks, addend_clocks;  // of a tensor that is added: a row of it, or all of it
  double gelu_clocks, gelu_tanh_clocks, silu_clocks;
  double terms_share;  // of the clocks of addends and activations as tile_terms, where sums begin at the bias
  double not_hidden;   // of the shorter of computing and reading, in the first wave
  double later_not_hidden;  // and in later ones
  double last_wave;         // how whole the last wave counts: 0 by its blocks, 1 as a full one
  double half_wave;         // what one counts whose tiles are computed in halves
};

// The configuration of a kernel, and what was measured of it: as above.
struct kernel_costs {
  matmul_family family;
  matmul_precision precision;
  std::uint16_t sm;
  std::uint32_t element_bytes, m, n, k, stages, cluster, cluster_splits, resident;  // cluster: its blocks
  std::uint32_t alignment;  // of lines, bytes: the larger of A's and B's
  bool across, general;
  double start_clocks, rate, step_clocks;
};

// What a kernel does for a call on a device.
struct kernel_work {
  double blocks, at_once, steps;     // of the grid; that run together; along K, of a block
  bool clusters, exchanges, halves;  // halves: few tiles of a last wave are computed in halves
  double cluster_splits;
  double operations, operations_in_clock;     // of a step; at most, of a multiprocessor
  double shared_bytes, loaded_bytes, copied;  // of a step; elements or words that are copied on their own
  double crossing_bytes;                      // of loaded_bytes: of lines that begin inside a line of L2
  double short_lines;                         // of a step: lines across K that are shorter than 32 bytes
  double odd_vectors, outside_vectors;        // of a step: what tensor copies take by 16 bytes
  double results, outside, result_bytes;      // elements of a block in C, and outside of it; bytes of one
  double bias, addends;                       // tensors that are added: of one row, and of all
  matmul_activation activation;
  double read_and_written, sums;  // bytes of memory; of the sums of splits
};
kernel_work work_of(const matmul_variant& v, const matmul_call& call, const device_properties& device);
double seconds_of(const kernel_work& work, const matmul_variant& v, const device_properties& device);

}  // namespace kaio::ops
