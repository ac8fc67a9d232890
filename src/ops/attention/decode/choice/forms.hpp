#pragma once
// The form in which an attention_decode adds up the splits of its keys: a second kernel, or clusters of sm_90.
// A model of both times decides.
//
//   time = waves * start + hypot(waves * tiles * tile, bytes / rate) + combining
//
//   tiles       tiles of keys of the longest split    waves   rounds in which the blocks fit the device
//   bytes       of K and V
//   combining   one split: 0; second kernel: second_kernel + of_part * splits;
//               cluster: cluster + of_block * splits
//
// The constants are microseconds on an H200, fitted to the times of 90 calls that `bench/attention_decode
// --forms` prints. The chosen form took 0.4 % longer than the fastest form of each call.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/runtime/properties.hpp>

#include <cstdint>

#include "ops/attention/decode/choice/division.hpp"

namespace kaio::ops {

struct attention_decode_times {
  double start = 2.6;           // per wave, to the first copy
  double tile = 0.89;           // per tile of keys, in a block that has other tiles in flight
  double rate = 4.87e6;         // bytes per microsecond, of all blocks
  double second_kernel = 1.35;  // its launch and its end
  double of_part = 0.06;        // per split, added to second_kernel
  double cluster = 0.35;        // the barriers of a cluster and its sums
  double of_block = 0.064;      // per block, added to cluster
};

// The modelled time of a call on a kernel with this division.
double time_of(const attention_decode_variant& v, const attention_decode_call& call,
               const attention_decode_division& division, const device_properties& device,
               const attention_decode_times& times = {});

// The best division of a kernel with clusters: a single split, or clusters that fit the device. It keeps to
// the splits and the combining that the call asks for. If no division does, splits is 0.
attention_decode_division divide_among_clusters(const attention_decode_variant& v,
                                                const attention_decode_call& call,
                                                const device_properties& device,
                                                const attention_decode_times& times = {});

// The division of a call on a kernel: the form that the call asks for, or the faster one by the model.
attention_decode_division divide_in_best_form(const attention_decode_variant& v,
                                              const attention_decode_call& call,
                                              const device_properties& device,
                                              const attention_decode_times& times = {});

}  // namespace kaio::ops
