// ops::attention with a block mask next to double precision: blocks of many sizes, lists in any order with
// garbage past their counts, with and without full blocks, shared by batches and heads or not.
#include "tests/ops/attention/block_support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void block_sizes() {
  const attention_case c{
      .batches = 2, .queries = 300, .keys = 330, .heads = 2, .key_heads = 1, .qk_size = 64, .v_size = 64};
  for (const auto& [queries, keys] : {std::pair{128u, 128u}, {64u, 64u}, {32u, 96u}, {100u, 50u}, {400u, 7u}})
    check_in_blocks<T>(c, {.query_size = queries, .key_size = keys, .seed = queries + keys});
}

template <class T>
void shared_lists() {
  const attention_case c{
      .batches = 2, .queries = 150, .keys = 200, .heads = 6, .key_heads = 2, .qk_size = 32, .v_size = 40};
  for (const bool one_batch : {false, true})
    for (const bool one_head : {false, true})
      for (const bool full_lists : {false, true})
        check_in_blocks<T>(c, {.query_size = 64,
                               .key_size = 64,
                               .one_batch = one_batch,
                               .one_head = one_head,
                               .full_lists = full_lists,
                               .room = one_head ? 3u : 0u});
}

// The mask of the options holds in the partial blocks alone.
template <class T>
void bands_in_blocks() {
  attention_case c{.queries = 260, .keys = 260, .heads = 2, .key_heads = 2, .qk_size = 64, .v_size = 64};
  c.causal = causal_alignment::top_left;
  check_in_blocks<T>(c, {});
  c.causal = causal_alignment::bottom_right;
  c.keys = 390;
  c.window = {100, 0};
  c.softcap = 2;
  c.alibi = 1;
  c.sinks = true;
  check_in_blocks<T>(c, {.seed = 3});
  c.causal = causal_alignment::none;
  c.window = {0, 0};  // most rows of most partial blocks have no key
  check_in_blocks<T>(c, {.query_size = 64, .key_size = 48, .seed = 4});
}

template <class T>
void head_sizes_in_blocks() {
  for (const u32 size : {16u, 96u, 128u, 200u, 256u}) {
    attention_case c{.queries = 150, .keys = 270, .heads = 1, .qk_size = size, .v_size = size};
    c.causal = causal_alignment::bottom_right;
    check_in_blocks<T>(c, {.seed = size});
    c.pad = 3;
    c.heads_first = true;
    check_in_blocks<T>(c, {.query_size = 48, .key_size = 40, .seed = size + 1});
  }
}

template <class T>
void edges_of_blocks() {
  for (const auto& [queries, keys] :
       {std::pair{1u, 1u}, {1u, 300u}, {300u, 1u}, {0u, 5u}, {5u, 0u}, {129u, 127u}})
    check_in_blocks<T>({.batches = 2, .queries = queries, .keys = keys, .qk_size = 64, .v_size = 64},
                       {.room = 1, .seed = 5});
}

template <class T>
void random_blocks(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 engine(seed);
    const auto below = [&](u32 n) { return static_cast<u32>(engine() % n); };
    attention_case c;
    c.seed = seed;
    c.batches = 1 + below(2);
    c.key_heads = 1 + below(2);
    c.heads = c.key_heads * (1 + below(2));
    c.queries = 1 + below(260);
    c.keys = 1 + below(260);
    c.qk_size = 8 * (1 + below(16));
    c.v_size = below(2) == 0 ? c.qk_size : 8 * (1 + below(16));
    c.heads_first = below(2) == 0;
    c.pad = below(3) == 0 ? below(9) : 0;
    c.causal = static_cast<causal_alignment>(below(3));
    if (below(3) == 0) c.window = {static_cast<i64>(below(80)) - 1, static_cast<i64>(below(80)) - 1};
    if (below(4) == 0) c.softcap = 1.5f;
    if (below(4) == 0) c.alibi = 1 + below(2);
    c.sinks = below(4) == 0;
    check_in_blocks<T>(c, {.query_size = below(3) == 0 ? 1 + below(200) : 16 * (1 + below(10)),
                           .key_size = below(3) == 0 ? 1 + below(200) : 16 * (1 + below(10)),
                           .one_batch = below(2) == 0,
                           .one_head = below(2) == 0,
                           .full_lists = below(3) != 0,
                           .room = below(3),
                           .seed = seed});
  }
}

// NaN in keys and values that no query attends to, or that only some do.
template <class T>
void planted_nan_in_blocks() {
  const u32 length = 256;
  tensor4<T> q(1, length, 1, 64, false, 0), k(1, length, 1, 64, false, 0), v(1, length, 1, 64, false, 0),
      o(1, length, 1, 64, false, 0);
  q.fill(1, 1);
  k.fill(2, 1);
  v.fill(3, 1);
  // Blocks of 64: queries 0 attend to keys 0 (partial) and 2 (full), 1 to 1 (partial), 2 to none, 3 to 0 (full).
  auto counts = upload(std::vector<i32>{1, 1, 0, 0}), full_counts = upload(std::vector<i32>{1, 0, 0, 1});
  auto indices = upload(std::vector<i32>{0, 1, -1, 99}),
       full_indices = upload(std::vector<i32>{2, 99, -5, 0});
  const auto run = [&] {
    auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host), on_o = upload(o.host);
    attention_first_fit(under_test().stream(), q.template view<const T>(on_q), k.template view<const T>(on_k),
                        v.template view<const T>(on_v), o.template view<T>(on_o),
                        {.causal = causal_alignment::top_left,
                         .blocks = {.kv_num_blocks = tensor_view<const i32, 3>(counts, 1, 1, 4),
                                    .kv_indices = tensor_view<const i32, 4>(indices, 1, 1, 4, 1),
                                    .full_kv_num_blocks = tensor_view<const i32, 3>(full_counts, 1, 1, 4),
                                    .full_kv_indices = tensor_view<const i32, 4>(full_indices, 1, 1, 4, 1),
                                    .size = {64, 64}}});
    return on_o.download();
  };
  const auto clean = run();
  for (u32 i = 128; i < 192; ++i)
    for (u32 e = 0; e < 64; ++e) REQUIRE(to_double(clean[i * 64 + e]) == 0);
  const T nan = from_float<T>(std::numeric_limits<float>::quiet_NaN());
  for (u32 j = 192; j < 256; ++j)  // no block of queries visits these
    for (u32 e = 0; e < 64; ++e) k.at(0, j, 0, e) = v.at(0, j, 0, e) = nan;
  const auto without = run();
  for (std::size_t n = 0; n < clean.size(); ++n)  // a row with NaN next to its block is computed key by key
    REQUIRE(std::abs(to_double(without[n]) - to_double(clean[n])) <= 2 * unit_in_last_place<T>(1.0));
  // Value 40 is seen by queries 40 to 63, and by 192 to 255 in a full block; value 170 by queries 0 to 63.
  v.at(0, 40, 0, 5) = v.at(0, 170, 0, 9) = nan;
  const auto some = run();
  for (u32 i = 0; i < length; ++i)
    for (u32 e = 0; e < 64; ++e) {
      const double got = to_double(some[i * 64 + e]), want = to_double(clean[i * 64 + e]);
      const bool reached = (e == 5 && ((i >= 40 && i < 64) || i >= 192)) || (e == 9 && i < 64);
      CAPTURE(i, e, got, want);
      if (reached)
        REQUIRE(std::isnan(got));
      else
        REQUIRE(std::abs(got - want) <= 2 * unit_in_last_place<T>(1.0));
    }
}

}  // namespace

TEST_CASE("attention: block masks of many sizes", "[ops][attention][blocks]") {
  block_sizes<f16>();
  block_sizes<bf16>();
  block_sizes<f32>();
}
TEST_CASE("attention: block masks that batches and heads share", "[ops][attention][blocks]") {
  shared_lists<f16>();
  shared_lists<bf16>();
  shared_lists<f32>();
}
TEST_CASE("attention: causal masks and windows in partial blocks", "[ops][attention][blocks]") {
  bands_in_blocks<f16>();
  bands_in_blocks<bf16>();
  bands_in_blocks<f32>();
}
TEST_CASE("attention: block masks and head sizes", "[ops][attention][blocks]") {
  head_sizes_in_blocks<f16>();
  head_sizes_in_blocks<bf16>();
  head_sizes_in_blocks<f32>();
}
TEST_CASE("attention: block masks of few queries or keys", "[ops][attention][blocks]") {
  edges_of_blocks<f16>();
  edges_of_blocks<f32>();
}
TEST_CASE("attention: random block masks, f16", "[ops][attention][blocks]") { random_blocks<f16>(1, 16); }
TEST_CASE("attention: random block masks, bf16", "[ops][attention][blocks]") { random_blocks<bf16>(100, 16); }
TEST_CASE("attention: random block masks, f32", "[ops][attention][blocks]") { random_blocks<f32>(300, 16); }
TEST_CASE("attention: NaN outside of a block mask's blocks", "[ops][attention][blocks]") {
  planted_nan_in_blocks<f16>();
  planted_nan_in_blocks<bf16>();
  planted_nan_in_blocks<f32>();
}
// More tiles of queries than an H200 has multiprocessors, so that persistent blocks take several, with and
// without keys.
TEST_CASE("sm_90a: block masks of many heads, some without a block", "[ops][attention][blocks]") {
  const attention_case c{
      .queries = 30, .keys = 40, .heads = 150, .key_heads = 1, .qk_size = 64, .v_size = 64};
  check_in_blocks<f16>(c, {.seed = 7});
}
TEST_CASE("attention: a block mask's lists may change between runs of one call", "[ops][attention][blocks]") {
  // Everything is read on the device: the same call with other lists, as a replayed graph does it.
  const u32 length = 128;
  tensor4<f16> x(1, length, 1, 64, false, 0);
  x.fill(1, 1);
  auto on_x = upload(x.host), on_o = upload(x.host);
  auto counts = upload(std::vector<i32>{1, 1}), indices = upload(std::vector<i32>{0, 0, 1, 0});
  const auto run = [&] {
    attention_first_fit(under_test().stream(), x.view<const f16>(on_x), x.view<const f16>(on_x),
                        x.view<const f16>(on_x), x.view<f16>(on_o),
                        {.blocks = {.kv_num_blocks = tensor_view<const i32, 3>(counts, 1, 1, 2),
                                    .kv_indices = tensor_view<const i32, 4>(indices, 1, 1, 2, 2),
                                    .size = {64, 64}}});
    return on_o.download();
  };
  const auto first = run();
  const std::vector<i32> others = {0, 2}, same = {1, 1};
  counts.copy_from(others.data(), 2, under_test().stream());
  const auto second = run();
  REQUIRE(!same_bits(first, second));
  for (u32 i = 0; i < 64 * 64; ++i) REQUIRE(to_double(second[i]) == 0);
  counts.copy_from(same.data(), 2, under_test().stream());
  REQUIRE(same_bits(run(), first));
}
