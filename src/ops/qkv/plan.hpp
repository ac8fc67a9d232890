#pragma once
// What a qkv_project may run, and what tuning knows it by.

#include <kaio/ops/qkv/arguments.hpp>
#include <kaio/runtime/device.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "ops/qkv/resolve.hpp"

namespace kaio::ops {

// A product, and then the heads.
inline constexpr std::string_view separate = "separate";

// The names of all that can run a call that was checked, "separate" last. A kernel for few rows has its number of
// parts of K after a colon: "kernel:2".
std::vector<std::string> qkv_choices(const detail::qkv_arguments& a, const detail::qkv_call& call,
                                     const device_properties& device);
// The one that a call takes; empty: it does nothing.
std::string qkv_choice(const device& gpu, const detail::qkv_arguments& arguments);
std::string tuning_key(const detail::qkv_arguments& a, const detail::qkv_call& call);

}  // namespace kaio::ops
