#pragma once
// Why a device cannot run a kernel, whatever the call is.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <string_view>

namespace kaio::ops {

// A clause about the kernel, for an error of the operation; empty: the device runs it.
inline std::string_view device_refusal(const ptx::needs& needs, const runtime::device_properties& device) {
  if (needs.target.arch_specific && !(device.target == needs.target)) return "it needs another architecture";
  if (device.target.sm < needs.target.sm) return "it needs a later architecture";
  if (device.ptx_version < needs.version) return "the driver is older than its PTX";
  if (std::max(needs.shared_bytes, needs.dynamic_shared_bytes) > device.shared_per_block_optin)
    return "it needs more shared memory than a block of this device has";
  return {};
}

inline bool runs_on(const ptx::kernel_image& image, const runtime::device_properties& device) {
  return device_refusal(image.needs, device).empty();
}

}  // namespace kaio::ops
