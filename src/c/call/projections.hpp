#pragma once
// Weights and destinations of qkv_project and gate_up_project: structs of C of which a caller gives one part or another.

#include <kaio/c/projections.h>
#include <kaio/ops/gate_up_project/call/arguments.hpp>
#include <kaio/ops/qkv_project/call/arguments.hpp>
#include <kaio/ops/weight_only/call/projection_weight.hpp>

#include "c/call/call.hpp"

namespace kaio::c {

// The arguments of C++, which have no value without weights, as variables that are read into.
struct qkv_weights : ops::qkv_weights {
  qkv_weights() : ops::qkv_weights(ops::projection_weight()) {}
};
struct gate_up_weights : ops::gate_up_weights {
  gate_up_weights() : ops::gate_up_weights(ops::projection_weight()) {}
};
struct qkv_outputs : ops::qkv_outputs {
  qkv_outputs() : ops::qkv_outputs(none(), none(), none()) {}

 private:
  static ops::tensor_view<f16, 3> none() { return {}; }
};

void read(call& in, const char* name, const kaio_projection_weight* given, ops::projection_weight& to);
void read(call& in, const char* name, const kaio_qkv_weights* given, qkv_weights& to);
void read(call& in, const char* name, const kaio_gate_up_weights* given, gate_up_weights& to);
void read(call& in, const char* name, const kaio_qkv_outputs* given, qkv_outputs& to);

}  // namespace kaio::c
