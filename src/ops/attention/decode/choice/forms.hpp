#pragma once
// In which form an attention_decode adds up the parts of its keys: by a second kernel, or in clusters of sm_90. A
// model of both times decides.
//
//   time = waves * start + hypot(waves * tiles * tile, bytes / rate) + combining
//
//   tiles       of keys, of the longest part          waves   rounds in which the blocks fit the device
//   bytes       of K and V
//   combining   second kernel: second_kernel + of_part * parts; cluster: cluster + of_block * parts; 0: one part
//
// The constants are microseconds on an H200, fitted to the times of 90 calls that `bench/attention_decode --forms` prints:
// the form that they choose took 0.4 % longer than the fastest one of each.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>

#include "ops/attention/decode/choice/division.hpp"

namespace kaio::ops {

struct attention_decode_times {
  double start = 2.6;           // of a wave, to the first copy
  double tile = 0.89;           // of keys, of a block that has others under way
  double rate = 4.87e6;         // bytes in a microsecond, of all blocks
  double second_kernel = 1.35;  // its launch and its end, and
  double of_part = 0.06;        // what a part adds to it
  double cluster = 0.35;        // the barriers of a cluster and its sums, and
  double of_block = 0.064;      // what a block adds to them
};

// The time of a call on a kernel, divided like this.
double time_of(const attention_decode_variant& v, const attention_decode_call& call,
               const attention_decode_division& division, const device_properties& device,
               const attention_decode_times& times = {});

// The best division of a kernel that has clusters, among a single part and the clusters that fit the device. Parts and
// combining of the call are kept to; without any that does, parts is 0.
attention_decode_division divide_among_clusters(const attention_decode_variant& v,
                                                const attention_decode_call& call,
                                                const device_properties& device,
                                                const attention_decode_times& times = {});

// The division of a call on a kernel: whichever of both forms is faster by the model, or the one that it asks for.
attention_decode_division divide_in_best_form(const attention_decode_variant& v,
                                              const attention_decode_call& call,
                                              const device_properties& device,
                                              const attention_decode_times& times = {});

}  // namespace kaio::ops
