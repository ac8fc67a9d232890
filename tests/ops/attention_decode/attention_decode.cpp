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
