// attention_decode: every form of a cache, every page size, lengths at the ends of pages, groups of heads,
// numbers of queries and head sizes, in every kernel.
#include "tests/ops/attention_decode/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::string_view simt = "attention_decode_simt";

}  // namespace

TEST_CASE("attention_decode: a contiguous cache", "[ops][attention_decode]") {
  check_decode<f16>({.lengths = {70, 1, 0, 64}});
  check_decode<f16>({.lengths = {70, 1, 0, 64}, .variant = simt});
  check_decode<bf16>({.lengths = {33, 129}, .room = 200});
  check_decode<f32>({.lengths = {70, 1, 0, 64}});
}

TEST_CASE("attention_decode: pages of any size, by a table and by a list", "[ops][attention_decode]") {
  for (const u32 page : {1u, 3u, 16u, 64u, 100u})
    for (const cache_kind kind : {cache_kind::table, cache_kind::list}) {
      decode_case c{
          .lengths = {page * 2, page + 1, page - 1, 1, 0, 101}, .kind = kind, .page = page, .seed = page};
      c.by_last_page = kind == cache_kind::list && page != 3;
      c.heads_first = page == 16;
      c.together = page == 64;
      check_decode<f16>(c);
      c.variant = simt;
      check_decode<f16>(c);
    }
}

TEST_CASE("attention_decode: pages of 256 keys", "[ops][attention_decode]") {
  for (const cache_kind kind : {cache_kind::table, cache_kind::list})
    check_decode<f16>({.heads = 2,
                       .key_heads = 1,
                       .qk_size = 32,
                       .v_size = 32,
                       .lengths = {257, 1, 0, 512, 255},
                       .kind = kind,
                       .page = 256,
                       .by_last_page = kind == cache_kind::list});
}

TEST_CASE("attention_decode: heads of more than 256 elements", "[ops][attention_decode]") {
  decode_case c{.queries = 2,
                .heads = 4,
                .key_heads = 2,
                .qk_size = 512,
                .v_size = 512,
                .lengths = {70, 1, 0, 33},
                .causal = causal_alignment::bottom_right};
  REQUIRE(decode_choice<f16>(c).name == "attention_decode_simt_d512");
  check_decode<f16>(c);
  check_decode<bf16, bf16, e4m3>(c);
  c.kind = cache_kind::table;
  c.splits = 3;
  check_decode<f32>(c);
  c.qk_size = 257;
  c.v_size = 40;
  check_decode<f32>(c);
  c.qk_size = 24;
  c.v_size = 389;
  c.softcap = 4;
  check_decode<bf16>(c);
}

TEST_CASE("attention_decode: as many queries as there may be", "[ops][attention_decode]") {
  // One less than two tiles of 64 rows, and two of them; more queries than keys.
  for (const u32 queries : {127u, 128u}) {
    decode_case c{.queries = queries,
                  .heads = 1,
                  .key_heads = 1,
                  .qk_size = 16,
                  .v_size = 16,
                  .lengths = {150, queries, 40},
                  .causal = causal_alignment::bottom_right};
    check_decode<f16>(c);
    check_decode<bf16>(c);
    c.variant = simt;
    check_decode<f16>(c);
  }
}

TEST_CASE("attention_decode: groups of 3 and of 8 heads", "[ops][attention_decode]") {
  for (const u32 group : {3u, 8u})
    for (const u32 queries : {1u, 2u, 5u}) {  // 3, 6, 15; 8, 16 and 40 rows
      decode_case c{.queries = queries,
                    .heads = 2 * group,
                    .qk_size = 32,
                    .v_size = 32,
                    .lengths = {70, 9},
                    .causal = causal_alignment::bottom_right,
                    .alibi = 1};
      check_decode<f16>(c);
      check_decode<bf16, bf16, e4m3>(c);
      c.variant = simt;
      if (queries == 2) check_decode<f16>(c);
    }
}
