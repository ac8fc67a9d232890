// attention_decode: NaN and infinities in keys and values. They reach the queries that attend to them, and no
// others. Every other test has NaN wherever no query reads.
#include "tests/ops/attention_decode/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void put(decode_memory<T>& memory, const decode_case& c, u32 b, u32 j, bool in_keys, bool in_values, f32 x) {
  const key_place at = memory.numbers.place(c, b, j);
  for (u32 h = 0; h < c.key_heads; ++h) {
    if (in_keys) memory.k.at(at.page, at.row, h, 3) = from_float<T>(x);
    if (in_values) memory.v.at(at.page, at.row, h, 5) = from_float<T>(x);
  }
  memory.upload_again();
}

template <class T>
void check_with(const decode_case& c, u32 j, bool in_keys, bool in_values, f32 x) {
  CAPTURE(c.text(), j, in_keys, in_values, x);
  decode_memory<T> memory(c);
  put(memory, c, 0, j, in_keys, in_values, x);
  compare_decode(c, memory, run_decode<T>(c, memory));
}

}  // namespace

TEST_CASE("attention_decode: NaN at a key that some queries of a tile are masked from",
          "[ops][attention_decode]") {
  constexpr f32 nan = std::numeric_limits<f32>::quiet_NaN(), infinite = std::numeric_limits<f32>::infinity();
  for (const u32 queries : {5u, 20u}) {  // in one tile of 16 rows, and in tiles of 64
    decode_case c{.queries = queries,
                  .heads = 6,
                  .lengths = {400},
                  .kind = cache_kind::table,
                  .page = 24,
                  .causal = causal_alignment::bottom_right,
                  .window = {60, 0}};
    check_with<f16>(c, 397, true, true, nan);  // the last three queries read it
    check_with<f16>(c, 397, false, true, infinite);
    check_with<bf16>(c, 400 - queries - 60, false, true, nan);  // the first query's first key
    check_with<f32>(c, 397, true, true, nan);
  }
  // All of a sequence in one part, no mask: every query reads it.
  check_with<f16>({.queries = 2, .lengths = {9}}, 4, false, true, nan);
}

TEST_CASE("attention_decode: rows without keys", "[ops][attention_decode]") {
  // Fewer keys than queries: the first queries have none. With sinks their lse is the sink.
  for (const bool sinks : {false, true})
    for (const std::string_view variant : {std::string_view(), std::string_view("attention_decode_simt")})
      check_decode<f16>({.queries = 7,
                         .lengths = {3, 0, 8},
                         .left = {2, 0, 8},
                         .causal = causal_alignment::bottom_right,
                         .sinks = sinks,
                         .variant = variant});
}

TEST_CASE("attention_decode: large scores", "[ops][attention_decode]") {
  decode_case c{.lengths = {300}, .scale = 400.0f, .sinks = true};
  check_decode<f16>(c);
  c.scale = -400.0f;
  check_decode<f32>(c);
}
