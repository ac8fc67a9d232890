#pragma once
// The number of blocks that share a multiprocessor in a launch of matmul_w4 for few rows of x.
//
// A third block hides latency: one and a half times the work takes 1.2 times as long (H200). But the blocks
// of a programmatic launch begin wherever the previous launch leaves room. If two blocks per multiprocessor
// are enough, some multiprocessors would get three and others one: 12.7 us instead of 10.1 for 8192 x 8192.
// Such a launch asks for more shared memory than its blocks need, so that a third block does not fit.
// Clusters of more than two blocks leave some multiprocessors unused.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// Blocks that run at once, in clusters of `cluster`, with `resident` blocks per multiprocessor.
constexpr std::uint64_t w4_blocks_at_once(std::uint32_t resident, std::uint32_t cluster,
                                          const device_properties& device) {
  const std::uint64_t all = std::uint64_t{std::max(device.multiprocessors, 1u)} * resident;
  return std::max<std::uint64_t>(cluster > 2 ? all * 10 / 11 : all, 1);
}

// Blocks per multiprocessor, if `most` fit, 1 to 3.
constexpr std::uint32_t w4_resident_blocks(std::uint64_t blocks, std::uint32_t cluster,
                                           const device_properties& device, std::uint32_t most) {
  if (most < 3) return most;
  const auto rounds = [&](std::uint32_t resident) {
    const std::uint64_t at_once = w4_blocks_at_once(resident, cluster, device);
    return (blocks + at_once - 1) / at_once;
  };
  return 10 * rounds(2) > 12 * rounds(3) ? 3 : 2;
}

// The launch with that number of blocks per multiprocessor, for a kernel with room for `most`.
inline dsl::grid with_w4_resident_blocks(const dsl::grid& launch, const ptx::kernel_image& image,
                                         const device_properties& device, std::uint32_t most) {
  const std::uint32_t resident = w4_resident_blocks(launch.x, launch.cluster_blocks.x, device, most);
  const std::uint32_t own = image.needs.dynamic_shared_bytes;
  const std::uint32_t too_much = device.shared_per_multiprocessor / (resident + 1) + 1;
  return resident == most || own >= too_much ? launch : launch.shared_bytes(too_much - own);
}

}  // namespace kaio::ops
