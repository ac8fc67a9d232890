#pragma once
// The number of parts into which a launch divides the keys of a tile, if there are too few tiles of queries
// to fill a device.

#include <kaio/ops/attention/forward/call/call.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// A kernel's resident blocks per multiprocessor: the number that its registers are made for, if shared memory
// allows.
inline std::uint32_t attention_resident_blocks(const ptx::needs& needs, std::uint32_t made_for,
                                               const device_properties& device) {
  constexpr std::uint32_t reserved = 1024;  // bytes per block
  const std::uint32_t of_block = std::max(needs.shared_bytes, needs.dynamic_shared_bytes) + reserved;
  const std::uint32_t all = device.shared_per_multiprocessor != 0 ? device.shared_per_multiprocessor
                                                                  : device.shared_per_block_optin + reserved;
  return std::clamp(all / of_block, 1u, made_for);
}

// Parts of the keys among the warps of a block. With `most` parts a block has 1 / most of the queries; if all
// blocks then still run at once, it is `most`, else one. It is also one if the bits may not depend on the
// rest of the call.
constexpr std::uint32_t attention_division(const attention_call& call, std::uint32_t queries,
                                           std::uint32_t most, std::uint64_t at_once) {
  return !call.batch_invariant && call.blocks(queries) * most <= at_once ? most : 1;
}

// Cost of a cluster in tiles of keys: its launch, and the exchange of sums between its blocks.
inline constexpr std::uint32_t attention_cluster_steps = 2;

// Parts of the keys among the blocks of a cluster: a power of two up to `most` with the fewest tiles of
// `keys` per block, if all blocks run at once. Clusters of more than two blocks leave some multiprocessors
// idle.
constexpr std::uint32_t attention_cluster_division(const attention_call& call, std::uint32_t queries,
                                                   std::uint32_t keys, std::uint32_t most,
                                                   std::uint64_t at_once) {
  if (call.batch_invariant) return 1;
  const attention_problem& p = call.problem;
  const std::uint64_t of_sequence = p.packed == 0 ? p.keys : call.k.rows / std::max(p.batches, 1u);
  std::uint32_t best = 1;
  std::uint64_t least = (of_sequence + keys - 1) / keys;
  for (std::uint32_t parts = 2; parts <= most; parts *= 2) {
    const std::uint64_t room = parts == 2 ? at_once : at_once * 7 / 8, of_part = std::uint64_t{keys} * parts;
    const std::uint64_t steps = (of_sequence + of_part - 1) / of_part + attention_cluster_steps;
    if (call.blocks(queries) * parts > room || steps >= least) continue;
    least = steps;
    best = parts;
  }
  return best;
}

}  // namespace kaio::ops
