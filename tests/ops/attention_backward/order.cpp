// Which tile of keys a block of a backward kernel owns: each tile once, the ones with the most queries first, or
// those of some heads in turns.
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>

#include <map>
#include <random>
#include <utility>

#include "tests/ops/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr u32 rows = 64;  // of a tile

struct owned {
  u32 batch, group, tile;
};

template <bool InTurns>
constexpr auto key_blocks_kernel = kernel<"attention_key_blocks_" + decimal<u32{InTurns}>, 1>(
    [](thread t, out<owned> order, val<ops::attention_problem> problem,
       val<ops::attention_gradients> gradients) {
      const val index = t.let(block_idx_x());
      const ops::tile_of_head place = InTurns ? ops::key_tile_in_turns(t, problem, gradients, index)
                                              : ops::key_tile_in_order(t, problem, gradients, index);
      const ops::attention_key_block keys = ops::find_key_block(t, problem, gradients, place, rows);
      order[index][&owned::batch] = keys.batch;
      order[index][&owned::group] = keys.group;
      order[index][&owned::tile] = keys.first_key / rows;
    });

struct order_case {
  u32 batches, heads, tiles, blocks;  // blocks: that run at once
  bool longest_first;
};

// together: heads that take turns; 0: the order of the kernels whose blocks do not wait for each other.
std::vector<owned> order_of(const order_case& c, u32 leading, u32 together = 0) {
  ops::attention_problem problem{};
  problem.batches = c.batches;
  problem.heads = c.heads;
  problem.heads_of_group = 1;
  problem.queries = problem.keys = c.tiles * rows;
  problem.longest_first = c.longest_first ? 1 : 0;
  ops::attention_gradients gradients{};
  gradients.key_tiles = c.tiles;
  gradients.key_heads = c.heads;
  gradients.leading_key_heads = leading;
  const u32 blocks = c.batches * c.heads * c.tiles;
  auto memory = under_test().upload(std::vector<owned>(blocks, {~0u, ~0u, ~0u}));
  gradients.heads_at_once = together;
  const auto launch = [&](const auto& kernel) {
    kernel.launch(under_test().stream(), grid(blocks), memory, problem, gradients);
  };
  together != 0 ? launch(key_blocks_kernel<true>) : launch(key_blocks_kernel<false>);
  return memory.download();
}

// Each tile once, and the tiles of a head in order: blocks that add to one dQ wait for the tiles before.
void require_each_tile(const order_case& c, const std::vector<owned>& order) {
  std::map<std::pair<u32, u32>, u32> next;
  for (const owned& of : order) {
    REQUIRE(of.batch < c.batches);
    REQUIRE(of.group < c.heads);
    REQUIRE(of.tile == next[{of.batch, of.group}]++);
  }
  REQUIRE(next.size() == c.batches * c.heads);
  for (const auto& [head, tiles] : next) REQUIRE(tiles == c.tiles);
}

}  // namespace

TEST_CASE("attention_backward: each tile of keys has one block", "[ops][attention_backward]") {
  std::mt19937 random(17);
  const auto from = [&](u32 least, u32 most) {
    return std::uniform_int_distribution<u32>(least, most)(random);
  };
  u32 led = 0;
  for (u32 i = 0; i < 40; ++i) {
    const order_case c{from(1, 4), from(1, 12), from(1, 9), from(1, 24), from(0, 3) != 0};
    const u32 leading = c.longest_first ? ops::leading_heads(u64{c.batches} * c.heads, c.tiles, c.blocks) : 0;
    if (leading != 0) ++led;
    CAPTURE(c.batches, c.heads, c.tiles, c.blocks, c.longest_first, leading);
    const auto order = order_of(c, leading);
    require_each_tile(c, order);
    // Among the heads that do not lead, first tiles begin before all others: they have the most queries.
    if (c.longest_first)
      for (std::size_t at = u64{leading} * c.tiles; at + 1 < order.size(); ++at)
        REQUIRE(order[at].tile <= order[at + 1].tile);
  }
  REQUIRE(led >= 10);
}

TEST_CASE("attention_backward: heads take turns", "[ops][attention_backward]") {
  for (const u32 together : {1u, 2u, 3u, 5u, 9u}) {
    const order_case c{2, 4, 5, 0, false};
    CAPTURE(together);
    const auto order = order_of(c, 0, together);
    require_each_tile(c, order);
    // While one of these heads has tiles left, none of the heads after them begins.
    for (std::size_t at = 0; at < order.size(); ++at) {
      const u32 head = order[at].batch * c.heads + order[at].group;
      REQUIRE(head / together == at / (u64{together} * c.tiles));
      if (at + 1 < order.size() && order[at + 1].tile != 0) REQUIRE(order[at].tile <= order[at + 1].tile);
    }
  }
}
