// attention_decode_varlen: sequences with different numbers of queries in one tensor. With new keys it is bit for bit
// append_kv_varlen and then the same call over the longer cache.
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/rotary.hpp>

#include "tests/ops/attention_decode/varlen_case.hpp"
#include "thrown.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("attention_decode_varlen: numbers of queries", "[ops][attention_decode][varlen]") {
  constexpr causal_alignment causal = causal_alignment::bottom_right;
  check_varlen<f16>(
      {.queries = 9, .lengths = {70, 33, 0, 20, 64}, .kind = cache_kind::table, .causal = causal},
      {1, 9, 0, 5, 4});
  check_varlen<bf16>({.queries = 40, .heads = 2, .lengths = {50, 90}, .causal = causal, .window = {25, 0}},
                     {33, 2});
  check_varlen<f32>({.queries = 20, .heads = 2, .lengths = {50, 90}, .left = {3, 0}, .causal = causal},
                    {20, 7});
  check_varlen<f16, e4m3>({.queries = 5, .lengths = {70, 33}, .scales = scale_kind::keys}, {5, 1});
  // In splits.
  check_varlen<f16>({.queries = 6, .heads = 2, .key_heads = 1, .lengths = {1300, 30, 600}, .causal = causal},
                    {1, 6, 3});
  check_varlen<f16>({.queries = 6,
                     .heads = 2,
                     .key_heads = 1,
                     .lengths = {900, 30},
                     .causal = causal,
                     .variant = "attention_decode_simt"},
                    {6, 2});
}

// Tiles that the last sequence does not have would be read beyond the end of Q.
TEST_CASE("attention_decode_varlen: Q ends with a sequence of fewer tiles than another",
          "[ops][attention_decode][varlen]") {
  constexpr causal_alignment causal = causal_alignment::bottom_right;
  for (const u32 last : {16u, 3u, 0u}) {
    const decode_case one{.queries = 17, .heads = 1, .key_heads = 1, .lengths = {40, 30}, .causal = causal};
    check_varlen<f16>(one, {17, last}, 0);
    check_varlen<f16, i8>(one, {17, last}, 0);
    check_varlen<bf16, e4m3>(one, {17, last}, 0);
  }
  for (const u32 size : {64u, 128u, 256u}) {
    decode_case grouped{.queries = 9, .heads = 4, .key_heads = 2, .qk_size = size, .v_size = size};
    grouped.lengths = {70, 33, 600};
    check_varlen<f16, i8>(grouped, {2, 9, 1}, 0);
    check_varlen<f16>(grouped, {2, 9, 1}, 0);
  }
}

TEST_CASE("attention_decode_varlen: new keys and values", "[ops][attention_decode][varlen][append]") {
  constexpr i64 heads = 4, key_heads = 2, size = 32, rows = 7, room = 40, positions = 40;
  const stream& s = under_test().stream();
  const auto random = [](std::size_t n, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(-1, 1);
    std::vector<f16> x;
    for (std::size_t i = 0; i < n; ++i) x.push_back(f16(any(engine)));
    return x;
  };
  const auto on_q = upload(random(rows * heads * size, 1)),
             fresh_k = upload(random(rows * key_heads * size, 2)),
             fresh_v = upload(random(rows * key_heads * size, 3));
  const auto old_k = random(3 * room * key_heads * size, 4), old_v = random(3 * room * key_heads * size, 5);
  const auto cu = upload(std::vector<i32>{0, 1, 5, 6}), lengths = upload(std::vector<i32>{30, 8, 0}),
             after = upload(std::vector<i32>{31, 12, 1});
  auto cos = under_test().allocate<f32>(positions * 8), sin = under_test().allocate<f32>(positions * 8);
  rotary_table(s, tensor_view<f32, 2>(cos, positions, 8), tensor_view<f32, 2>(sin, positions, 8));
  const ops::append_rotary turn{.cos = tensor_view<f32, 2>(cos, positions, 8),
                                .sin = tensor_view<f32, 2>(sin, positions, 8)};
  const ops::attention_sequences sequences{.cu_q = tensor_view<const i32, 1>(cu, 4), .max_q = 4};
  const tensor_view<const f16, 3> q(on_q, rows, heads, size), k(fresh_k, rows, key_heads, size),
      v(fresh_v, rows, key_heads, size);
  std::vector<std::vector<f16>> results;
  for (const bool fused : {true, false}) {
    auto on_k = upload(old_k), on_v = upload(old_v);
    auto turned = under_test().allocate<f16>(rows * heads * size);
    auto on_o = upload(std::vector<f16>(rows * heads * size, f16(-7.0f)));
    kv_cache<f16> cache{.k = tensor_view<f16, 4>(on_k, 3, room, key_heads, size),
                        .v = tensor_view<f16, 4>(on_v, 3, room, key_heads, size),
                        .lengths = tensor_view<const i32, 1>(lengths, 3)};
    attention_decode_options options{.causal = causal_alignment::bottom_right};
    const tensor_view<f16, 3> turned_q(turned, rows, heads, size);
    if (fused) {
      options.append = {.k = k, .v = v, .rotary = turn};
    } else {
      ops::append_kv_options to{.cu_seqlens = tensor_view<const i32, 1>(cu, 4), .rotary = turn};
      to.rotary.q = {q, turned_q};
      append_kv_varlen(s, k, v, cache, to);
      cache.lengths = tensor_view<const i32, 1>(after, 3);
    }
    const tensor_view<const f16, 3> query = fused ? q : tensor_view<const f16, 3>(turned_q);
    const auto workspace = under_test().allocate<u8>(
        std::max<u64>(attention_decode_varlen_workspace_bytes(s, query, cache, sequences, options), 16));
    options.workspace = workspace;
    attention_decode_varlen(s, query, cache, tensor_view<f16, 3>(on_o, rows, heads, size), sequences,
                            options);
    for (const buffer<f16>* const x : {&on_k, &on_v, &on_o}) results.push_back(x->download());
  }
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(same_bits(results[i], results[i + 3]));
  REQUIRE(to_double(results[2][(rows - 1) * heads * size]) == -7);  // of no sequence
}

TEST_CASE("attention_decode_varlen: calls that do not fit", "[ops][attention_decode][varlen]") {
  const stream& s = under_test().stream();
  auto memory = upload(std::vector<f16>(4096)), to = upload(std::vector<f16>(4096));
  const auto numbers = upload(std::vector<i32>(8, 0));
  const tensor_view<const f16, 3> q(memory, 6, 4, 32);
  const tensor_view<const f16, 4> k(memory, 2, 8, 2, 32);
  const tensor_view<f16, 3> o(to, 6, 4, 32);
  const kv_cache<const f16> cache{.k = k, .v = k, .lengths = tensor_view<const i32, 1>(numbers, 2)};
  const tensor_view<const i32, 1> cu(numbers, 3);
  const auto refuses = [&](std::string_view text, const ops::attention_sequences& sequences,
                           const attention_decode_options& options = {}) {
    const thrown error = catch_error([&] { attention_decode_varlen(s, q, cache, o, sequences, options); });
    CAPTURE(text, error.message);
    REQUIRE(error.code == errc::invalid_argument);
    REQUIRE(error.says("kaio: attention_decode_varlen: "));
    REQUIRE(error.says(text));
  };
  refuses("cu_q is not given", {.max_q = 3});
  refuses("give cu_q and max_q alone", {.cu_q = cu, .cu_k = cu, .max_q = 3});
  refuses("max_q is -1", {.cu_q = cu, .max_q = -1});
  refuses("max_q is 0, and argument q has 6 rows", {.cu_q = cu});
  refuses("argument k has extent 0", {.cu_q = tensor_view<const i32, 1>(numbers, 4), .max_q = 3});
  refuses("argument cu_q is empty", {.cu_q = tensor_view<const i32, 1>(numbers, 0), .max_q = 3});
  auto lse = upload(std::vector<f32>(64));
  refuses("(heads, rows)", {.cu_q = cu, .max_q = 3}, {.lse = tensor_view<f32, 3>(lse, 2, 4, 3)});
  attention_decode_varlen(s, q, cache, o, {.cu_q = cu, .max_q = 3});  // and one that is right
}

TEST_CASE("attention_decode_varlen: kernels are named and loaded ahead", "[ops][attention_decode][varlen]") {
  const stream& s = under_test().stream();
  auto memory = upload(std::vector<f16>(4096));
  const std::vector<f16> before(4096, f16(3.0f));
  auto to = upload(before);
  const auto numbers = upload(std::vector<i32>{0, 2, 6});
  const tensor_view<const f16, 3> q(memory, 6, 4, 32);
  const tensor_view<const f16, 4> k(memory, 2, 8, 2, 32);
  const tensor_view<f16, 3> o(to, 6, 4, 32);
  const kv_cache<const f16> cache{.k = k, .v = k, .lengths = tensor_view<const i32, 1>(numbers, 2)};
  const ops::attention_sequences sequences{.cu_q = tensor_view<const i32, 1>(numbers, 3), .max_q = 4};
  attention_decode_varlen_warmup(under_test(), q, cache, o, sequences);
  s.synchronize();
  REQUIRE(same_bits(to.download(), before));
  const ops::kernel_choice chosen = ops::attention_decode_varlen_choice(s, q, cache, o, sequences);
  REQUIRE(chosen.name.starts_with("attention_decode_"));
  REQUIRE(chosen.splits > 0);
  REQUIRE(ops::attention_decode_varlen_choice(s, q, cache, o, sequences, {.variant = "attention_decode_simt"})
              .name == "attention_decode_simt");
  const ops::attention_sequences forgotten{.cu_q = sequences.cu_q};
  const auto refused = [&](std::string_view beginning, const thrown& error) {
    CAPTURE(beginning, error.message);
    REQUIRE(error.code == errc::invalid_argument);
    REQUIRE(error.says(beginning));
    REQUIRE(error.says("max_q is 0, and argument q has 6 rows"));
  };
  refused("kaio: attention_decode_varlen_warmup: ",
          catch_error([&] { attention_decode_varlen_warmup(under_test(), q, cache, o, forgotten); }));
  refused("kaio: attention_decode_varlen_choice: ",
          catch_error([&] { ops::attention_decode_varlen_choice(s, q, cache, o, forgotten); }));
}
