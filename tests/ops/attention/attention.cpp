// ops::attention next to double precision: extents around the edges of tiles, head sizes, layouts, and every
// option.
#include "tests/ops/attention/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void around_tiles(u32 size) {
  for (const auto& [queries, keys] : {std::pair{1u, 1u},
                                      {1u, 130u},
                                      {2u, 5u},
                                      {5u, 2u},
                                      {63u, 65u},
                                      {64u, 64u},
                                      {65u, 127u},
                                      {130u, 63u},
                                      {70u, 300u},
                                      {0u, 5u},
                                      {5u, 0u}})
    for (const causal_alignment causal :
         {causal_alignment::none, causal_alignment::top_left, causal_alignment::bottom_right})
      check_attention<T>(
          {.queries = queries, .keys = keys, .qk_size = size, .v_size = size, .causal = causal});
}

template <class T>
void head_sizes() {
  for (const u32 size : {8u, 40u, 72u, 96u, 128u, 136u, 256u, 264u, 512u})
    check_attention<T>(
        {.queries = 33, .keys = 70, .heads = 2, .key_heads = 2, .qk_size = size, .v_size = size});
  check_attention<T>({.queries = 70, .keys = 300, .heads = 2, .key_heads = 1, .qk_size = 192, .v_size = 128});
  check_attention<T>({.queries = 40, .keys = 140, .qk_size = 136, .v_size = 72});
  check_attention<T>({.queries = 40, .keys = 40, .qk_size = 24, .v_size = 200});
  check_attention<T>({.queries = 40, .keys = 40, .qk_size = 64, .v_size = 256});
  check_attention<T>({.queries = 40, .keys = 40, .qk_size = 320, .v_size = 104});
  check_attention<T>({.queries = 40, .keys = 40, .qk_size = 64, .v_size = 512});
}

template <class T>
void windows() {
  for (const attention_window& window : {attention_window{0, 0}, {5, 0}, {0, 3}, {-1, 2}, {2, -1}, {40, 40}})
    for (const auto& [queries, keys] : {std::pair{70u, 70u}, {30u, 150u}, {150u, 30u}}) {
      check_attention<T>({.queries = queries, .keys = keys, .qk_size = 32, .v_size = 32, .window = window});
      check_attention<T>({.queries = queries,
                          .keys = keys,
                          .qk_size = 32,
                          .v_size = 32,
                          .causal = causal_alignment::bottom_right,
                          .window = window});
    }
  check_attention<T>({.queries = 70,
                      .keys = 90,
                      .qk_size = 32,
                      .v_size = 32,
                      .causal = causal_alignment::top_left,
                      .window = {9, -1}});
}

template <class T>
void options() {
  attention_case c{
      .batches = 2, .queries = 50, .keys = 70, .heads = 6, .key_heads = 2, .qk_size = 64, .v_size = 64};
  const attention_case base = c;
  const auto with = [&](auto change) {
    c = base;
    change();
    check_attention<T>(c);
  };
  with([&] { c.scale = 0.0f; });
  with([&] { c.scale = -0.5f; });
  with([&] { c.scale = 1.25f; });
  with([&] { c.softcap = 2.0f; });
  with([&] { c.alibi = 1; });
  with([&] { c.alibi = 2; });
  with([&] { c.sinks = true; });
  with([&] { c.sinks = true, c.causal = causal_alignment::bottom_right, c.queries = 80, c.keys = 20; });
  with([&] { c.lse = false; });
  with([&] { c.softcap = 0.5f, c.alibi = 1, c.causal = causal_alignment::bottom_right; });
  with([&] { c.heads_first = true; });
  with([&] { c.pad = 8; });
  with([&] { c.pad = 3; });
  with([&] { c.pad = 1, c.heads_first = true, c.qk_size = 13, c.v_size = 7; });
  with([&] { c.key_heads = 1; });
}

}  // namespace

TEST_CASE("attention: extents around tiles", "[ops][attention]") {
  around_tiles<f16>(64);
  around_tiles<f16>(128);
  around_tiles<bf16>(64);
  around_tiles<f32>(64);
}
TEST_CASE("attention: head sizes", "[ops][attention]") {
  head_sizes<f16>();
  head_sizes<bf16>();
  head_sizes<f32>();
}
TEST_CASE("attention: windows", "[ops][attention]") {
  windows<f16>();
  windows<f32>();
}
TEST_CASE("attention: options and layouts", "[ops][attention]") {
  options<f16>();
  options<bf16>();
  options<f32>();
}
