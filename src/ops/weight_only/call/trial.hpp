#pragma once
// Weights of a trial.

#include <kaio/ops/weight_only/call/projection_weight.hpp>
#include <kaio/ops/weight_only/call/arguments.hpp>
#include <kaio/runtime/buffer.hpp>

#include "ops/choice/measure.hpp"

namespace kaio::ops {

// Memory in place of the weights': of any codes, in the order of the groups.
void replace_w4_weights(stand_ins& memory, w4_weights& w, const buffer<u32>& pattern);
// The same of any weight, with scales of zeros.
void replace_weight(stand_ins& memory, projection_weight& w, const buffer<u32>& pattern);

}  // namespace kaio::ops
