#pragma once
// Into how many parts a launch divides the keys of the tiles of a call: where there are too few tiles of
// queries to fill a device.

#include <kaio/ops/attention/forward/call/call.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// Blocks of a kernel that a multiprocessor runs at once: as many as its registers are made for, where there
// is shared memory for them.
inline std::uint32_t attention_resident_blocks(const ptx::needs& needs, std::uint32_t made_for,
                                               const device_properties& device) {
  constexpr std::uint32_t reserved = 1024;  // bytes of each block
  const std::uint32_t of_block = std::max(needs.shared_bytes, needs.dynamic_shared_bytes) + reserved;
  const std::uint32_t all = device.shared_per_multiprocessor != 0 ? device.shared_per_multiprocessor
                                                                  : device.shared_per_block_optin + reserved;
  return std::clamp(all / of_block, 1u, made_for);
}

// Among the warps of a block, `most` parts or one: blocks have so many times fewer queries, where all of them
// run at once. One also where bits may not depend on what else a call has.
constexpr std::uint32_t attention_division(const attention_call& call, std::uint32_t queries,
                                           std::uint32_t most, std::uint64_t at_once) {
  return !call.batch_invariant && call.blocks(queries) * most <= at_once ? most : 1;
}

// What a cluster costs, in tiles of keys: its launch, and sums that its blocks exchange.
inline constexpr std::uint32_t attention_cluster_steps = 2;

// Among the blocks of a cluster, a power of two up to `most`, all of which run at once: the least tiles of
// `keys` for a block. Larger clusters than two leave some of the multiprocessors over.
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
