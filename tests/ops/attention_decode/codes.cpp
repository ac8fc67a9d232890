// attention_decode over caches of 8 bits: every format with every kind of scales, in every kernel; and a cache
// as append_kv writes it.
#include "tests/ops/attention_decode/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/append_kv.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr std::string_view simt = "attention_decode_simt";

// In the kernel that the device takes, in the one for sm_80, and in the one for all.
template <class T, class C>
void check_codes(decode_case c) {
  check_decode<T, T, C>(c);
  const u32 size = std::max(c.qk_size, c.v_size);
  const std::string older = std::string("attention_decode_mma_8bit_sm80_") + (size <= 64    ? "d64_16x128"
                                                                              : size <= 128 ? "d128_16x64"
                                                                                            : "d256_16x32");
  c.variant = older;
  if (under_test().properties().target.sm >= 89) check_decode<T, T, C>(c);
  c.variant = simt;
  check_decode<T, T, C>(c);
}

template <class C>
void check_format() {
  check_codes<f16, C>({.lengths = {70, 1, 0, 64}});
  check_codes<bf16, C>({.lengths = {33, 129}, .room = 200, .scales = scale_kind::one});
  check_codes<f16, C>({.queries = 3,
                       .heads = 6,
                       .qk_size = 128,
                       .v_size = 96,
                       .lengths = {100, 31},
                       .kind = cache_kind::table,
                       .page = 24,
                       .causal = causal_alignment::bottom_right,
                       .scales = scale_kind::heads});
  check_codes<bf16, C>({.queries = 2,
                        .qk_size = 128,
                        .v_size = 128,
                        .lengths = {60, 140, 9},
                        .kind = cache_kind::table,
                        .scales = scale_kind::sequences});
  check_codes<f16, C>(
      {.heads = 2, .qk_size = 160, .v_size = 80, .lengths = {40, 70}, .scales = scale_kind::sequences});
  check_codes<bf16, C>({.heads = 2,
                        .qk_size = 256,
                        .v_size = 256,
                        .lengths = {90, 17},
                        .kind = cache_kind::list,
                        .page = 7,
                        .heads_first = true,
                        .scales = scale_kind::keys});
  check_codes<f16, C>({.lengths = {300}, .kind = cache_kind::table, .page = 1, .scales = scale_kind::keys});
}

// Element 5 of V at key j of sequence 0 is `code`, or the key's scales are NaN.
template <class T, class C>
void check_with(decode_case c, u32 j, std::optional<C> code) {
  CAPTURE(c.text(), j);
  decode_memory<T, C> memory(c);
  const key_place at = memory.numbers.place(c, 0, j);
  for (u32 h = 0; h < c.key_heads; ++h) {
    if (code) memory.v.at(at.page, at.row, h, 5) = *code;
    if (!code)
      for (cache_scales* scales : {&memory.k_scale, &memory.v_scale})
        scales->host[scales->index(at, h)] = std::numeric_limits<f32>::quiet_NaN();
  }
  memory.upload_again();
  for (const std::string_view variant :
       {std::string_view(), std::string_view("attention_decode_mma_8bit_sm80_d64_16x128"), simt}) {
    if (under_test().properties().target.sm < 80 && !variant.empty()) continue;
    c.variant = variant;
    compare_decode(c, memory, run_decode<T>(c, memory));
  }
}

}  // namespace

TEST_CASE("attention_decode: a cache of e4m3", "[ops][attention_decode][codes]") { check_format<e4m3>(); }
TEST_CASE("attention_decode: a cache of e5m2", "[ops][attention_decode][codes]") { check_format<e5m2>(); }
TEST_CASE("attention_decode: a cache of i8", "[ops][attention_decode][codes]") { check_format<i8>(); }

TEST_CASE("attention_decode: NaN and infinities in 8 bits reach the queries that attend to them alone",
          "[ops][attention_decode][codes]") {
  const decode_case c{.queries = 5,
                      .heads = 6,
                      .lengths = {400},
                      .kind = cache_kind::table,
                      .page = 24,
                      .causal = causal_alignment::bottom_right,
                      .window = {60, 0},
                      .scales = scale_kind::keys};
  check_with<f16, e4m3>(c, 397, e4m3::from_bits(0x7f));  // the last three queries read it
  check_with<bf16, e4m3>(c, 397, e4m3::from_bits(0xff));
  check_with<f16, e5m2>(c, 397, e5m2::from_bits(0xfc));  // minus infinity
  check_with<f16, e5m2>(c, 397, e5m2::from_bits(0x7e));
  decode_case of_sequences = c;
  of_sequences.lengths = {400, 300};
  of_sequences.scales = scale_kind::sequences;
  check_with<bf16, e4m3>(of_sequences, 397, e4m3::from_bits(0x7f));
  check_with<bf16, i8>(c, 397, std::nullopt);
  check_with<f16, e4m3>(c, 397, std::nullopt);
}

TEST_CASE("attention_decode: every code of 8 bits", "[ops][attention_decode][codes]") {
  // Each query attends to one key, whose row of V has 64 of the codes: the result is the codes times the
  // scale, as they are.
  const auto check = [&]<class C>(C, auto code_of) {
    decode_case c{.heads = 1, .key_heads = 1, .lengths = {1, 1, 1, 1}, .scales = scale_kind::one};
    decode_memory<f16, C> memory(c);
    const auto code = [&](u32 b, u32 e) { return code_of(static_cast<std::uint8_t>(64 * b + e)); };
    for (u32 b = 0; b < 4; ++b)
      for (u32 e = 0; e < 64; ++e) memory.v.at(b, 0, 0, e) = code(b, e);
    memory.v_scale.host[0] = 0.5f;
    memory.upload_again();
    for (const std::string_view variant :
         {std::string_view(), std::string_view("attention_decode_mma_8bit_sm80_d64_16x128"), simt}) {
      if (under_test().properties().target.sm < 80 && !variant.empty()) continue;
      c.variant = variant;
      const auto got = run_decode<f16, f32>(c, memory);
      for (u32 b = 0; b < 4; ++b)
        for (u32 e = 0; e < 64; ++e) {
          const double want = to_double(code(b, e)) * 0.5;
          const double x = got.out.at(b, 0, 0, e);
          if (x == want || (std::isnan(x) && std::isnan(want))) continue;
          CAPTURE(b, e, x, want, variant);
          REQUIRE(x == want);
        }
    }
  };
  check(e4m3{}, [](std::uint8_t bits) { return e4m3::from_bits(bits); });
  check(e5m2{}, [](std::uint8_t bits) { return e5m2::from_bits(bits); });
  check(i8{}, [](std::uint8_t bits) { return static_cast<i8>(bits); });
}

TEST_CASE("attention_decode: weights of keys whose scales are far apart", "[ops][attention_decode][codes]") {
  // The key with by far the largest scale of V has hardly any weight: the values of the others are not lost.
  decode_case c{.heads = 2, .key_heads = 1, .lengths = {200}, .scale = 1.0f, .scales = scale_kind::keys};
  decode_memory<f16, e4m3> memory(c);
  for (u32 e = 0; e < c.qk_size; ++e)
    for (u32 h = 0; h < 2; ++h) memory.q.at(0, 0, h, e) = f16(1.0f);
  for (u32 j = 0; j < 200; ++j) {
    for (u32 e = 0; e < c.qk_size; ++e) memory.k.at(0, j, 0, e) = e4m3(j == 70 ? -0.5f : 0.25f);
    memory.k_scale.host[j] = 1;
    memory.v_scale.host[j] = j == 70 ? 1e6f : 1e-4f;
  }
  memory.upload_again();
  compare_decode(c, memory, run_decode<f16>(c, memory));
}

namespace {

// Tokens that append_kv quantised with scales of their own are attended to as they are in the cache.
template <class T, class C>
void check_appended(u32 size) {
  constexpr u32 batches = 2, tokens = 40, heads = 2, page = 16, pages = 7;
  const stream& s = under_test().stream();
  decode_case c{.qk_size = size, .v_size = size, .lengths = {tokens, 33}, .scales = scale_kind::keys};
  tensor4<T> q(batches, 1, c.heads, size, false, 0), k(batches, tokens, heads, size, false, 0), v = k;
  q.fill(1, 1), k.fill(2, 1), v.fill(3, 1);
  tensor4<C> codes(pages, page, heads, size, false, 0);
  auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host), on_o = upload(q.host);
  auto k_codes = upload(codes.host), v_codes = upload(codes.host);
  const std::vector<f32> none(std::size_t{pages} * page * heads, std::numeric_limits<f32>::quiet_NaN());
  auto k_scale = upload(none), v_scale = upload(none);
  const std::vector<i32> host_table{6, 2, 3, 0, 5, 1};
  auto table = upload(host_table), before = upload(std::vector<i32>{0, 0}),
       lengths = upload(std::vector<i32>{static_cast<i32>(c.lengths[0]), static_cast<i32>(c.lengths[1])});
  kv_cache<C> cache{.k = codes.template view<C>(k_codes),
                    .v = codes.template view<C>(v_codes),
                    .table = tensor_view<const i32, 2>(table, batches, 3),
                    .lengths = tensor_view<const i32, 1>(before, batches)};
  const tensor_view<f32, 3> scales_of_k(k_scale, pages, page, heads),
      scales_of_v(v_scale, pages, page, heads);
  append_kv(s, k.template view<const T>(on_k), v.template view<const T>(on_v), cache,
            {.k_scale_out = scales_of_k, .v_scale_out = scales_of_v});
  cache.lengths = tensor_view<const i32, 1>(lengths, batches);
  attention_decode_options options{.k_scale = scales_of_k, .v_scale = scales_of_v};
  const auto of_q = q.template view<const T>(on_q);
  auto workspace = under_test().allocate<u8>(attention_decode_workspace_bytes(s, of_q, cache, options));
  if (workspace.size() != 0) options.workspace = workspace;
  attention_decode(s, of_q, cache, q.template view<T>(on_o), options);

  const auto host_k = k_codes.download(), host_v = v_codes.download();
  const auto by_k = k_scale.download(), by_v = v_scale.download();
  const auto result = on_o.download();
  for (u32 b = 0; b < batches; ++b) {
    const u32 length = c.lengths[b];
    tensor4<f32> all_k(1, length, heads, size, false, 0), all_v = all_k;
    for (u32 j = 0; j < length; ++j)
      for (u32 h = 0; h < heads; ++h) {
        const u32 at = static_cast<u32>(host_table[b * 3 + j / page]);
        const std::size_t row = (std::size_t{at} * page + j % page) * heads + h;
        for (u32 e = 0; e < size; ++e) {
          all_k.at(0, j, h, e) = static_cast<float>(to_double(host_k[row * size + e])) * by_k[row];
          all_v.at(0, j, h, e) = static_cast<float>(to_double(host_v[row * size + e])) * by_v[row];
          REQUIRE(std::abs(all_v.at(0, j, h, e) - to_double(v.at(b, j, h, e))) < 0.13);
        }
      }
    tensor4<T> one(1, 1, c.heads, size, false, 0), out = one;
    for (u32 h = 0; h < c.heads; ++h)
      for (u32 e = 0; e < size; ++e) {
        one.at(0, 0, h, e) = q.at(b, 0, h, e);
        out.at(0, 0, h, e) = result[q.index(b, 0, h, e)];
      }
    const attention_case alone = c.sequence(b);
    compare_attention(alone, out, out, attention_reference<T>(alone, one, all_k, all_v));
  }
}

}  // namespace

TEST_CASE("attention_decode: a cache as append_kv writes it in 8 bits", "[ops][attention_decode][codes]") {
  check_appended<f16, e4m3>(64);
  check_appended<bf16, e5m2>(128);
  check_appended<f16, i8>(80);
  check_appended<bf16, i8>(40);  // rows that do not begin at multiples of 16 bytes
}

TEST_CASE("attention_decode: scales that do not fit", "[ops][attention_decode][codes]") {
  constexpr u32 heads = 2, rows = 8, size = 16;
  auto on_q = upload(std::vector<f16>(heads * size)), on_o = upload(std::vector<f16>(heads * size)),
       wide = upload(std::vector<f16>(rows * heads * size));
  auto narrow = upload(std::vector<e4m3>(rows * heads * size));
  auto scales = upload(std::vector<f32>(64, 1.0f));
  const tensor_view<const f16, 4> q(on_q, 1, 1, heads, size), keys(wide, 1, rows, heads, size);
  const tensor_view<f16, 4> o(on_o, 1, 1, heads, size);
  const tensor_view<const e4m3, 4> codes(narrow, 1, rows, heads, size);
  const auto refuses = [&](const std::string& text, const auto& cache,
                           const attention_decode_options& options) {
    require_refusal(errc::invalid_argument, "kaio: attention_decode: ", text,
                    [&] { attention_decode(under_test().stream(), q, cache, o, options); });
  };
  const kv_cache<const f16> plain{.k = keys, .v = keys};
  const kv_cache<const e4m3> small{.k = codes, .v = codes};
  const tensor_view<const f32, 1> one(scales, 1), three(scales, 3);
  refuses("k_scale of a cache whose elements are those of q", plain, {.k_scale = one});
  refuses("v_scale of a cache whose elements are those of q", plain, {.v_scale = one});
  refuses("argument k_scale has extent 0", small, {.k_scale = three});
  refuses("argument k_scale has extent 0", small, {.k_scale = tensor_view<const f32, 2>(scales, 2, heads)});
  refuses("argument v_scale has extent 1", small, {.v_scale = tensor_view<const f32, 2>(scales, 1, 3)});
  refuses("argument v_scale has extent 1", small,
          {.v_scale = tensor_view<const f32, 3>(scales, 1, 7, heads)});
  refuses("argument k_scale has extent 2", small, {.k_scale = tensor_view<const f32, 3>(scales, 1, rows, 3)});
  refuses("variant attention_decode_mma_f16_d64_16x128 cannot run this call", small,
          {.variant = "attention_decode_mma_f16_d64_16x128"});
  refuses("cannot run this call", plain, {.variant = "attention_decode_mma_8bit_sm80_d64_16x128"});
  refuses(
      "output lse shares memory with argument k_scale", small,
      {.k_scale = tensor_view<const f32, 1>(scales, heads), .lse = tensor_view<f32, 3>(scales, 1, heads, 1)});
  for (const f16 x : on_o.download()) REQUIRE(to_double(x) == 0);
  attention_decode(under_test().stream(), q, small, o, {.k_scale = one, .v_scale = one});
}
