#pragma once
// How long a kernel takes for a call, without running it. A tile is one of queries of a head, a step one of a
// tile of keys:
//
//   steps   = tiles of keys that the mask leaves something of, on average and of the tile with the most
//   step    = max(tensor, softmax, L2 clocks) + copies one by one + terms of the score + a fixed part
//   waves   = tiles / (tiles that run at once), the last one counted as whole only in part
//   time    = launch + the longer of computing = max(waves * average tile, longest tile) / clock
//             and reading = bytes / DRAM bandwidth + a part of the shorter, which the other does not hide whole
//
//   tensor clocks    2 queries * keys * (D + Dv) / the operations of a multiprocessor in a clock * the blocks
//                    that share it, D and Dv as the kernel pads them
//   softmax clocks   an exponential for each score, and instructions
//   L2 clocks        K and V, by the lesser of what one multiprocessor takes and its part of the whole
//
// Lengths that the model sees: the call's; of packed sequences the average of their rows in memory, as the
// device alone knows more; and with batch_invariant the same for all calls, so that the choice does not depend
// on them.
//
// A cost has two parts: what a kernel does for a call (attention_work), and how long that takes (seconds_of).
// The constants of the second are in fitted.hpp, which bench/attention/fit.py writes.

#include "ops/attention/forward/choice/table.hpp"

namespace kaio::ops {

// Of every device. Clocks are of a multiprocessor.
struct attention_device_costs {
  double launch_seconds;  // from one kernel to the next
  double dram_share;      // of the bandwidth that the memory's clock gives
  double not_hidden;      // of the shorter of computing and reading
  double exponentials;    // in a clock
  double score_clocks;    // of a score, besides its exponential
  double general_clocks;  // of a score of a kernel that is not plain
  double softcap_clocks;  // of a score with a soft cap
  double alibi_clocks;    // with ALiBi
  double tensor_clocks;   // with a bias or a mask in memory, for each of them
  double copy_clocks;     // of an element that is copied on its own
  double padding;         // what a step counts more that is with zeros alone
  double l2_of_one;       // bytes in a clock: what one multiprocessor takes
  double l2_of_all;       // for each multiprocessor where all of them pull
};

struct attention_family_costs {
  double start_clocks;  // of a block, before its first tile
  double tile_clocks;  // of a tile of queries, Q and O: half of them always, half for 128 x 128 elements of O
  double step_clocks;  // of a step, which nothing hides
  double alone;  // as how many blocks on a multiprocessor one counts, where the kernel is made for as many
  double last_wave;  // how whole the last wave counts: 0 by its tiles, 1 as a full one
  double rate;       // of the device's operations in a clock, where the kernel has no row of its own
};

// Kernels of a configuration, and the share of the device's operations in a clock that they reach.
struct attention_kernel_costs {
  attention_family family;
  std::uint16_t sm;
  std::uint32_t element_bytes, depth_qk, depth_v, queries, keys;
  double rate;
  double tile_clocks;  // further ones of a tile
};

// What a kernel does for a call on a device.
struct attention_work {
  double tiles;                            // of queries, of all heads
  double resident;                         // blocks on a multiprocessor at once
  double steps, most_steps;                // of a tile: on average, of the longest one
  double operations, operations_in_clock;  // of a step; at most, of a multiprocessor
  double padded;                        // the share of operations that are with zeros, beyond the head sizes
  double scores, loaded_bytes, copied;  // of a step; elements that are copied on their own
  double softcap, alibi, tensors;       // terms of a score: 0 or 1, 0 or 1, 0 to 2
  double results;                       // elements of O of a tile, as the kernel pads it
  double read_and_written;              // bytes of memory
};
attention_work work_of(const attention_variant& v, const attention_call& call,
                       const device_properties& device);
double seconds_of(const attention_work& work, const attention_variant& v, const device_properties& device);

// The constants that a kernel has: those of its configuration, or of its family where that has none.
attention_kernel_costs kernel_costs_of(const attention_variant& v);

}  // namespace kaio::ops
