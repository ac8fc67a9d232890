#pragma once
// Why a kernel whose tiles have whole heads cannot run a call.

#include <kaio/ops/qkv/problem.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>

#include <algorithm>
#include <string_view>

namespace kaio::ops {

// Of the heads; empty: it can.
inline std::string_view obstacle_of_heads(const qkv_problem& p) {
  const u32 size = p.q.to.size;
  if (size != p.v.to.size || (size != 64 && size != 128))
    return "heads are not all of 64 or all of 128 elements";
  if (p.append.tables.pairs % run_size != 0) return "the rotated pairs are no multiple of 8";
  for (const qkv_part* part : {&p.q, &p.k, &p.v})
    if (part->heads != 0 && (part->to.aligned == 0 || part->terms_aligned == 0))
      return "an output, a bias or a norm does not begin at multiples of 16 bytes";
  return {};
}

// Of the device.
inline std::string_view obstacle_of_device(const ptx::kernel_image& image, const device_properties& device) {
  const ptx::needs& needs = image.needs;
  if (device.target.sm < needs.target.sm) return "it is for later devices";
  if (device.ptx_version < needs.version) return "the driver is older than the PTX that it is written in";
  if (std::max(needs.shared_bytes, needs.dynamic_shared_bytes) > device.shared_per_block_optin)
    return "it needs more shared memory than a block of this device has";
  return {};
}

}  // namespace kaio::ops
