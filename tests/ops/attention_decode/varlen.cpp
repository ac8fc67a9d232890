// attention_decode_varlen: sequences with different numbers of queries in one tensor, each compared with
// double precision; rows of no sequence are not written. With new keys it is bit for bit append_kv_varlen and
// then the same call over the longer cache.
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/rotary.hpp>

#include "tests/ops/attention_decode/support.hpp"
#include "thrown.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr u32 before = 2, behind = 3;  // rows of no sequence

// `c.queries` is the most of one.
template <class T, class C = T>
void check_varlen(const decode_case& c, const std::vector<u32>& counts) {
  CAPTURE(c.text());
  decode_memory<T, C> memory(c);
  std::vector<i32> cu{static_cast<i32>(before)};
  for (const u32 n : counts) cu.push_back(cu.back() + static_cast<i32>(n));
  const u32 rows = static_cast<u32>(cu.back()) + behind;
  const auto row_of = [&](u32 b, u32 i) { return static_cast<u32>(cu[b]) + i; };
  const T missing = from_float<T>(std::numeric_limits<float>::quiet_NaN());
  std::vector<T> q(std::size_t{rows} * c.heads * c.qk_size, missing);
  const auto index = [&](u32 row, u32 h, u32 e, u32 size) {
    return (std::size_t{row} * c.heads + h) * size + e;
  };
  for (u32 b = 0; b < c.batches(); ++b)
    for (u32 i = 0; i < counts[b]; ++i)
      for (u32 h = 0; h < c.heads; ++h)
        for (u32 e = 0; e < c.qk_size; ++e) q[index(row_of(b, i), h, e, c.qk_size)] = memory.q.at(b, i, h, e);
  const T poison = from_float<T>(-77.0f);
  std::vector<T> o(std::size_t{rows} * c.heads * c.v_size, poison);
  std::vector<f32> lse(std::size_t{rows} * c.heads, -12345.0f);
  const auto on_q = upload(q);
  auto on_o = upload(o);
  auto on_lse = upload(lse);
  const auto on_cu = upload(cu);
  const stream& s = under_test().stream();
  attention_decode_options options{.causal = c.causal, .window = c.window};
  options.lse = tensor_view<f32, 2>(on_lse, c.heads, rows);
  options.k_scale = memory.k_scale.view();
  options.v_scale = memory.v_scale.view();
  options.variant = c.variant;
  const ops::attention_sequences sequences{.cu_q = tensor_view<const i32, 1>(on_cu, cu.size()),
                                           .max_q = c.queries};
  const tensor_view<const T, 3> query(on_q, rows, c.heads, c.qk_size);
  const auto workspace = under_test().allocate<u8>(
      std::max<u64>(attention_decode_varlen_workspace_bytes(s, query, memory.cache, sequences, options), 16),
      uninitialised);
  options.workspace = workspace;
  attention_decode_varlen(s, query, memory.cache, tensor_view<T, 3>(on_o, rows, c.heads, c.v_size), sequences,
                          options);
  o = on_o.download(), lse = on_lse.download();
  for (u32 b = 0; b < c.batches(); ++b) {
    CAPTURE(b);
    attention_case one = c.sequence(b);
    one.queries = counts[b];
    if (one.queries == 0) continue;
    host_functions f;
    f.mask = [&](u32, u32, u32 i, u32 j) { return j >= c.left_of(b) && one.keeps(0, 0, i, j); };
    tensor4<T> own_q(1, counts[b], c.heads, c.qk_size, false, 0),
        out(1, counts[b], c.heads, c.v_size, false, 0);
    std::vector<f32> own_lse;
    for (u32 h = 0; h < c.heads; ++h)
      for (u32 i = 0; i < counts[b]; ++i) {
        for (u32 e = 0; e < c.qk_size; ++e) own_q.at(0, i, h, e) = q[index(row_of(b, i), h, e, c.qk_size)];
        for (u32 e = 0; e < c.v_size; ++e) out.at(0, i, h, e) = o[index(row_of(b, i), h, e, c.v_size)];
        own_lse.push_back(lse[std::size_t{h} * rows + row_of(b, i)]);
      }
    const attention_reference<T> want(one, own_q, memory.gather(c, b, memory.k, memory.k_scale),
                                      memory.gather(c, b, memory.v, memory.v_scale), f);
    compare_attention(one, out, out, want);
    compare_lse(own_lse, want.lse);
  }
  for (u32 row = 0; row < rows; ++row)
    if (row < before || row >= rows - behind)
      for (u32 h = 0; h < c.heads; ++h) {
        for (u32 e = 0; e < c.v_size; ++e)
          REQUIRE(to_double(o[index(row, h, e, c.v_size)]) == to_double(poison));
        REQUIRE(lse[std::size_t{h} * rows + row] == -12345.0f);
      }
}

}  // namespace

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
  // In parts.
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
  const ops::attention_decode_choice_info chosen =
      ops::attention_decode_varlen_choice(s, q, cache, o, sequences);
  REQUIRE(chosen.name.starts_with("attention_decode_"));
  REQUIRE(chosen.parts > 0);
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
