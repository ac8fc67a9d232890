// The order in which persistent blocks visit tiles of queries: each tile once, blocks with about the same number
// of keys, and few heads at a time where there are many.
#include "tests/ops/support.hpp"

#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/forward/sm90/query_walk.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr u32 rows = 128;  // of a tile

struct visit {
  u32 head, tile, exists;
};

// One thread for each persistent block, which writes its visits to `places` places.
constexpr auto order_kernel = kernel<"attention_order", 1>(
    [](thread t, out<visit> order, val<u32> places, val<ops::attention_problem> problem) {
      const auto walks = ops::walks_of<ops::every_key>(t);
      ops::query_walk tiles(t, problem, rows, walks);
      var place(t, block_idx_x() * places);
      for (auto each : t.loop()) {
        each.break_if(!tiles.has_tile());
        const ops::attention_block block = tiles.block();
        order[place][&visit::head] = block.batch * problem[&ops::attention_problem::heads] + block.head;
        order[place][&visit::tile] = block.first_query / rows;
        order[place][&visit::exists] = 1u;
        place += 1u;
        tiles.advance();
      }
    });

struct walk_case {
  u32 batches, heads, tiles, blocks, extra;  // extra: keys of the first tile, in tiles, beyond its own
  bool longest_first;
};

// Returns the visits of each block.
std::vector<std::vector<visit>> order_of(const walk_case& c) {
  ops::attention_problem problem{};
  problem.batches = c.batches;
  problem.heads = c.heads;
  problem.heads_of_group = 1;
  problem.queries = problem.keys = c.tiles * rows;
  problem.query_tiles = c.tiles;
  if (c.longest_first) {
    problem.longest_first = 1;
    problem.leading_heads = ops::leading_heads(u64{c.batches} * c.heads, c.tiles, c.blocks);
  }
  const u32 places = 2 * (c.batches * c.heads * c.tiles / c.blocks + 2);
  auto memory = under_test().upload(std::vector<visit>(u64{c.blocks} * places, {0, 0, 0}));
  order_kernel.launch(under_test().stream(), grid(c.blocks), memory, places, problem);
  const std::vector<visit> all = memory.download();
  std::vector<std::vector<visit>> of_block(c.blocks);
  for (u32 b = 0; b < c.blocks; ++b)
    for (u32 i = 0; i < places; ++i)
      if (all[u64{b} * places + i].exists != 0) of_block[b].push_back(all[u64{b} * places + i]);
  return of_block;
}

// Tiles of keys of a tile of queries.
double length(const walk_case& c, const visit& v) {
  return c.longest_first ? 1.0 + c.extra + v.tile : 1.0 * c.tiles;
}

}  // namespace

TEST_CASE("attention: persistent blocks visit each tile once, with the same work", "[ops][attention]") {
  std::mt19937 random(16);
  const auto from = [&](u32 least, u32 most) {
    return std::uniform_int_distribution<u32>(least, most)(random);
  };
  const u32 cases = under_test().is_emulator() ? 60 : 1000;
  for (u32 i = 0; i < cases; ++i) {
    walk_case c{from(1, 4), from(1, 24), from(1, 20), from(1, 24), from(0, 1) * from(0, 40), from(0, 3) != 0};
    c.blocks = std::min(c.blocks, c.batches * c.heads * c.tiles);
    CAPTURE(c.batches, c.heads, c.tiles, c.blocks, c.extra, c.longest_first);
    const auto order = order_of(c);
    std::map<std::pair<u32, u32>, u32> visits;
    double most = 0, all = 0, longest = 0;
    for (const auto& of_block : order) {
      double own = 0;
      for (const visit& v : of_block) {
        ++visits[{v.head, v.tile}];
        own += length(c, v);
        longest = std::max(longest, length(c, v));
      }
      most = std::max(most, own);
      all += own;
    }
    REQUIRE(visits.size() == std::size_t{c.batches} * c.heads * c.tiles);
    for (const auto& [tile, times] : visits) REQUIRE(times == 1);
    // Blocks take whole tiles: a block has at most 1.5 of the longest tiles more than the mean.
    REQUIRE(most <= all / c.blocks + 1.5 * longest);
  }
}

TEST_CASE("attention: blocks that run at once share few heads", "[ops][attention]") {
  const walk_case c{4, 16, 8, 24, 0, true};  // 64 heads of 8 tiles, 24 blocks: 10 rounds of pairs
  const auto order = order_of(c);
  const u32 leading = ops::leading_heads(u64{c.batches} * c.heads, c.tiles, c.blocks);
  REQUIRE(leading >= 48);
  for (u32 visited = 0; visited < 2 * (leading * c.tiles / 2 / c.blocks); ++visited) {
    std::set<u32> heads;
    for (const auto& of_block : order) heads.insert(of_block.at(visited).head);
    REQUIRE(heads.size() <= 4);  // 24 blocks with a tile each, of 8 tiles a head
  }
}
