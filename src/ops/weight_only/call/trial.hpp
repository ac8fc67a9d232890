#pragma once
// Stand-ins for weights in a trial.

#include <kaio/ops/weight_only/call/arguments.hpp>
#include <kaio/ops/weight_only/call/projection_weight.hpp>
#include <kaio/runtime/buffer.hpp>

#include "ops/choice/measure.hpp"

namespace kaio::ops {

// Replaces the memory of the weights: any codes, and k in the order of the groups.
void replace_w4_weights(stand_ins& memory, w4_weights& w, const buffer<u32>& pattern);
// Replaces a weight of any kind; scales that are not packed become zeros.
void replace_weight(stand_ins& memory, projection_weight& w, const buffer<u32>& pattern);

}  // namespace kaio::ops
