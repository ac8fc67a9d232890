// Which tile of keys a block of a backward kernel owns: each tile once, the ones with the most queries first.
#include <kaio/ops/attention/backward/common/key_block.hpp>

#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "tests/ops/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr u32 rows = 64;  // of a tile

struct owned {
  u32 batch, group, tile;
};

constexpr auto key_blocks_kernel =
    kernel<"attention_key_blocks", 1>([](thread t, out<owned> order, val<ops::attention_problem> problem,
                                         val<ops::attention_gradients> gradients) {
      const val index = t.let(block_idx_x());
      const ops::attention_key_block keys = ops::find_key_block(t, problem, gradients, index, rows);
      order[index][&owned::batch] = keys.batch;
      order[index][&owned::group] = keys.group;
      order[index][&owned::tile] = keys.first_key / rows;
    });

struct order_case {
  u32 batches, heads, tiles, blocks;  // blocks: that run at once
  bool longest_first;
};

std::vector<owned> order_of(const order_case& c, u32 leading) {
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
  key_blocks_kernel.launch(under_test().stream(), grid(blocks), memory, problem, gradients);
  return memory.download();
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
    std::set<std::tuple<u32, u32, u32>> tiles;
    for (const owned& of : order) {
      REQUIRE(of.batch < c.batches);
      REQUIRE(of.group < c.heads);
      REQUIRE(of.tile < c.tiles);
      tiles.insert({of.batch, of.group, of.tile});
    }
    REQUIRE(tiles.size() == order.size());
    // Blocks that add to the same dQ wait for those of the tiles before: within a head, tiles come in order.
    std::map<std::pair<u32, u32>, u32> next;
    for (const owned& of : order) REQUIRE(of.tile == next[{of.batch, of.group}]++);
    // Of the heads that do not lead, the first tiles, which have the most queries, begin before all others.
    if (c.longest_first)
      for (std::size_t at = u64{leading} * c.tiles; at + 1 < order.size(); ++at)
        REQUIRE(order[at].tile <= order[at + 1].tile);
  }
  REQUIRE(led >= 10);
}
