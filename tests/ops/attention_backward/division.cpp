// The kernels of attention_backward for sm_90a with few tiles of keys: several blocks share a tile's queries,
// and tiles of keys form groups with sums of dq of their own.
#include <kaio/ops/attention/backward/sm90/table_row.hpp>

#include "tests/ops/attention_backward/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

ops::attention_backward_call call_of(u32 batches, u32 heads, u32 key_heads, u32 queries, u32 keys, u32 size) {
  const auto view = [&](u32 rows, u32 of) {
    ops::attention_view v;
    v.type = ops::element_kind::f16;
    v.rank = 4;
    v.extents = {batches, rows, of, size};
    return v;
  };
  return ops::detail::size_attention_backward("division", view(queries, heads), view(keys, key_heads),
                                              view(keys, key_heads), nullptr);
}

template <std::uint32_t Depth>
ops::backward_division divided(u32 batches, u32 heads, u32 key_heads, u32 queries, u32 keys) {
  return ops::backward_division::of<ops::attention_backward_sm90_shape<Depth, ops::plain_score>>(
      call_of(batches, heads, key_heads, queries, keys, Depth));
}

template <class T, std::uint32_t Depth>
void check(u32 heads, u32 key_heads, u32 queries, u32 keys) {
  const ops::backward_division division = divided<Depth>(1, heads, key_heads, queries, keys);
  CAPTURE(Depth, division.groups, division.parts);
  REQUIRE(division.parts > 1);
  REQUIRE((division.groups & (division.groups - 1)) == 0);
  backward_case c;
  c.queries = queries;
  c.keys = keys;
  c.heads = heads;
  c.key_heads = key_heads;
  c.qk_size = c.v_size = Depth;
  check_backward<T>(c);
  c.causal = causal_alignment::bottom_right;
  c.window = {150, 0};
  check_backward<T>(c);
}

// Many groups of tiles of keys at few queries, whose sums of dq the warps of the last kernel divide.
template <class T, std::uint32_t Depth>
void check_groups(u32 heads) {
  backward_case c;
  c.queries = 40;
  c.keys = 1100;
  c.heads = heads;
  c.qk_size = c.v_size = Depth;
  const ops::backward_division division = divided<Depth>(1, heads, heads, c.queries, c.keys);
  CAPTURE(Depth, division.groups, division.parts);
  REQUIRE(division.groups >= 8);
  check_backward<T>(c);
}

}  // namespace

TEST_CASE("attention_backward for sm_90a: warps divide the groups of few queries",
          "[ops][attention_backward]") {
  check_groups<f16, 64>(1);
  check_groups<bf16, 96>(2);
  check_groups<bf16, 128>(1);
  check_groups<f16, 256>(1);
}

TEST_CASE("attention_backward for sm_90a: blocks share a tile of keys", "[ops][attention_backward]") {
  check<f16, 64>(1, 1, 600, 420);
  check<bf16, 96>(2, 1, 200, 300);
  check<f16, 128>(1, 1, 330, 410);
  check<bf16, 256>(2, 1, 150, 200);
}

TEST_CASE("attention_backward for sm_90a: the division of a call", "[ops][attention_backward]") {
  // Many tiles of keys that meet at few queries.
  REQUIRE(divided<64>(16, 1, 1, 241, 3720).groups > 1);
  // More tiles than multiprocessors are not shared; many heads have few tiles at work each.
  const ops::backward_division full = divided<128>(4, 16, 16, 4096, 4096);
  REQUIRE(full.parts == 1);
  REQUIRE(full.groups == 1);
  // One tile of keys of many query heads.
  REQUIRE(divided<128>(1, 32, 1, 512, 100).parts > 1);
  REQUIRE(divided<128>(1, 32, 1, 512, 100).groups == 1);
  // Nothing to do is no division.
  REQUIRE(divided<64>(1, 1, 1, 0, 0).parts == 1);
}
