#pragma once
// What a gate_up_project may run, and its key for tuning.

#include <kaio/ops/gate_up_project/call/arguments.hpp>
#include <kaio/runtime/properties.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "ops/choice/signature.hpp"
#include "ops/gate_up_project/common/resolve.hpp"

namespace kaio::ops {

// The names of everything that can run a checked call, "separate" last.
std::vector<std::string_view> choices_of_gate_up(const detail::gate_up_arguments& a,
                                                 const detail::gate_up_call& call,
                                                 const device_properties& device);
std::string tuning_key(const detail::gate_up_arguments& a, const detail::gate_up_call& call);

}  // namespace kaio::ops
