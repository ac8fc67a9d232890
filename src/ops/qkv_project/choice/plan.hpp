#pragma once
// What a qkv_project may run, and its key for tuning.

#include <kaio/ops/qkv_project/call/arguments.hpp>
#include <kaio/runtime/device.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/choice/signature.hpp"
#include "ops/qkv_project/common/resolve.hpp"

namespace kaio::ops {

// What runs a call: a kernel, by the name of its image, or "separate". A kernel for few rows has its splits of
// K in the name: "kernel:2".
struct qkv_choice {
  std::string_view kernel;
  std::uint32_t splits = 0;
  std::string name() const { return splits == 0 ? std::string(kernel) : name_with_splits(kernel, splits); }
};

// Everything that can run a checked call, "separate" last.
std::vector<qkv_choice> qkv_choices(const detail::qkv_arguments& a, const detail::qkv_call& call,
                                    const device_properties& device);
// The name of the choice that a call takes; empty: the call does nothing.
std::string name_of_qkv_choice(const device& gpu, const detail::qkv_arguments& arguments);
std::string tuning_key(const detail::qkv_arguments& a, const detail::qkv_call& call);

}  // namespace kaio::ops
