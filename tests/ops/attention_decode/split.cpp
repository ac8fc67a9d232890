// attention_decode: keys that are divided among blocks. The splits follow from numbers of the host; only
// the device knows how many keys a sequence has.
#include "tests/ops/attention_decode/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void check_split(const decode_case& c, bool has_parts) {
  CAPTURE(c.text());
  decode_memory<T> memory(c);
  const auto runs = decode_choice(c, memory);
  CAPTURE(runs.name, runs.splits);
  REQUIRE((runs.splits > 1) == has_parts);
  compare_decode(c, memory, run_decode<T>(c, memory));
}

}  // namespace

TEST_CASE("attention_decode: a sequence in many parts", "[ops][attention_decode]") {
  for (const std::string_view variant : {std::string_view(), std::string_view("attention_decode_simt")}) {
    // The longest, one that leaves splits without keys, one of a single tile, none.
    check_split<f16>({.key_heads = 1,
                      .lengths = {1100, 300, 20, 0},
                      .left = {3, 0, 19, 0},
                      .kind = cache_kind::table,
                      .page = 48,
                      .room = 40,
                      .sinks = true,
                      .variant = variant},
                     true);
    // More queries than one tile has rows, and masks that leave some splits to some of the queries alone.
    check_split<f16>({.queries = 19,
                      .lengths = {900, 30},
                      .causal = causal_alignment::bottom_right,
                      .window = {800, 0},
                      .softcap = 4,
                      .alibi = 1,
                      .variant = variant},
                     true);
  }
  check_split<f32>({.heads = 2, .qk_size = 32, .v_size = 20, .lengths = {900}, .kind = cache_kind::list},
                   true);
}

TEST_CASE("attention_decode: as many parts as the window and max_length have keys",
          "[ops][attention_decode]") {
  decode_case c{.lengths = {60, 7}, .room = 100000};
  check_split<f16>(
      [&] {
        auto x = c;
        x.max_length = 64;
        return x;
      }(),
      false);
  check_split<f16>(
      [&] {
        auto x = c;
        x.window = {30, 0};
        return x;
      }(),
      false);
}

TEST_CASE("attention_decode: no keys beyond max_length", "[ops][attention_decode]") {
  decode_case c{.lengths = {50, 90}, .kind = cache_kind::table, .max_length = 50, .seed = 3};
  decode_memory<f16> memory(c);
  const auto got = run_decode<f16>(c, memory);
  c.lengths[1] = 50;
  compare_decode(c, memory, got);
}
