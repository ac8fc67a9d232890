#pragma once
// The time of a kernel for a call, computed without running it. A tile is a tile of queries of a head; a step
// is one tile of keys:
//
//   steps      = tiles of keys that the mask does not empty: of the average tile, and of the longest one
//   step       = max(tensor, softmax, L2 clocks) + copies one by one + terms of the score + a fixed part
//   waves      = tiles / (tiles that run at once); the last one counts as whole only in part
//   computing  = max(waves * average tile, longest tile) / clock
//   reading    = bytes / DRAM bandwidth
//   time       = launch + max(computing, reading) + not_hidden * min(computing, reading)
//
//   tensor clocks    2 queries * keys * (D + Dv) / operations of a multiprocessor per clock * blocks that
//                    share it; D and Dv as the kernel pads them
//   softmax clocks   an exponential for each score, and instructions
//   L2 clocks        K and V, at the lower of one multiprocessor's rate and its part of the total rate
//
// The model sees the call's lengths. For packed sequences it sees the average of their rows in memory, since
// only the device knows more. With batch_invariant it sees the same lengths for all calls, so that the choice
// does not depend on them.
//
// A cost has two parts: a kernel's work for a call (attention_work), and the time of this work (seconds_of).
// The constants of the time are in fitted.hpp, which bench/attention/fit.py writes.

#include "ops/attention/forward/choice/table.hpp"

namespace kaio::ops {

// Constants of every device. Clocks are those of a multiprocessor.
struct attention_device_costs {
  double launch_seconds;  // seconds from one kernel to the next
  double dram_share;      // share of the bandwidth that the memory's clock gives
  double not_hidden;      // part of the shorter of computing and reading
  double exponentials;    // exponentials per clock
  double score_clocks;    // per score, besides its exponential
  double general_clocks;  // per score of a kernel that is not plain
  double softcap_clocks;  // per score with a soft cap
  double alibi_clocks;    // per score with ALiBi
  double tensor_clocks;   // per score and per bias or mask in memory
  double copy_clocks;     // per element that is copied singly
  double padding;         // a step counts 1 + padding * (its share of operations on zeros)
  double l2_of_one;       // bytes per clock that one multiprocessor takes
  double l2_of_all;       // bytes per clock for each multiprocessor if all of them pull
};

struct attention_family_costs {
  double start_clocks;  // per block, before its first tile
  double tile_clocks;   // per tile of queries, for Q and O: half is fixed, half per 128 x 128 elements of O
  double step_clocks;   // per step, not hidden
  double alone;         // number of blocks that a lone one counts as, at most the kernel's resident blocks
  double last_wave;     // weight of the last wave: 0: by its tiles, 1: as a full one
  double rate;          // share of the device's operations per clock, for kernels without a row of their own
};

// Kernels of a configuration, and their share of the device's operations per clock.
struct attention_kernel_costs {
  attention_family family;
  std::uint16_t sm;
  std::uint32_t element_bytes, depth_qk, depth_v, queries, keys;
  double rate;
  double tile_clocks;  // extra clocks per tile
};

// A kernel's work for a call on a device.
struct attention_work {
  double tiles;                            // tiles of queries, over all heads
  double resident;                         // blocks per multiprocessor at once
  double steps, most_steps;                // steps of the average and of the longest tile
  double operations, operations_in_clock;  // per step; the most of a multiprocessor per clock
  double padded;                           // share of operations on zeros, beyond the head sizes
  double scores, loaded_bytes, copied;     // per step; copied: elements that are copied singly
  double softcap, alibi, tensors;          // terms of a score: 0 or 1, 0 or 1, 0 to 2
  double results;                          // elements of O per tile, as the kernel pads it
  double read_and_written;                 // bytes of memory
};
attention_work work_of(const attention_variant& v, const attention_call& call,
                       const device_properties& device);
double seconds_of(const attention_work& work, const attention_variant& v, const device_properties& device);

// A kernel's constants: those of its configuration, or of its family if it has none.
attention_kernel_costs kernel_costs_of(const attention_variant& v);

}  // namespace kaio::ops
