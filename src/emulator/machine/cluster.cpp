#include "emulator/machine/cluster.hpp"

#include <algorithm>

namespace kaio::emulator {

cluster::cluster(const grid& g) : launched(g), async(launched, blocks, random) {
  const auto count = static_cast<u32>(g.cluster_blocks.count());
  for (u32 rank = 0; rank < count; ++rank) blocks.push_back(std::make_unique<block>(g, *this, rank));
}

void cluster::start(u64 number) {
  const ptx::dim3& c = launched.cluster_blocks;
  const u64 x = launched.blocks.x / c.x, y = launched.blocks.y / c.y;
  const u64 first_x = number % x * c.x, first_y = number / x % y * c.y, first_z = number / x / y * c.z;
  async.start();
  timed_out.clear();
  timed_out_changes = 0;
  turns = 0;
  random.state = launched.order.seed ^ (number + 1) * 0x9e3779b97f4a7c15ull;
  for (const auto& b : blocks)
    b->start({static_cast<u32>(first_x + b->rank % c.x), static_cast<u32>(first_y + b->rank / c.x % c.y),
              static_cast<u32>(first_z + b->rank / c.x / c.y)});
}

bool cluster::somebody_is_ready() const {
  return std::any_of(blocks.begin(), blocks.end(), [](const auto& b) { return is_ready(*b); });
}

bool cluster::complete_pending() {
  if (somebody_is_ready()) return false;
  return async.complete_some();
}

block* cluster::find(block& from, u32 address, u32& offset) const {
  const u32 name = address >> cluster_rank_bit;
  offset = address & cluster_offset_mask;
  if (name == 0) return &from;
  return name <= blocks.size() ? blocks[name - 1].get() : nullptr;
}

block* cluster::find_running(block& from, u32 address, u32& offset) const {
  block* const home = find(from, address, offset);
  return home == nullptr || home == &from || !has_ended(*home) ? home : nullptr;
}

u64 cluster::changes() const {
  u64 total = 0;
  for (const auto& b : blocks) total += b->changes;
  return total;
}

}  // namespace kaio::emulator
