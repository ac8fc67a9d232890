// attention_decode where values are the first elements of the keys, of heads larger than those of other caches
// (multi-head latent attention): every form of a cache, masks, parts, and both kernels.
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/rotary.hpp>

#include <random>

#include "tests/ops/attention_decode/support.hpp"
#include "thrown.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T, class O = T>
void check_mla(const decode_case& c) {
  CAPTURE(c.text());
  decode_memory<T> memory(c);
  share_values(memory);
  const std::string_view kernel = decode_choice(c, memory).name;
  CAPTURE(kernel);
  REQUIRE(kernel.starts_with("attention_mla"));
  compare_decode(c, memory, run_decode<T, O>(c, memory));
}

decode_case latent(u32 heads, std::vector<u32> lengths) {
  decode_case c;
  c.heads = heads, c.key_heads = 1, c.qk_size = 576, c.v_size = 512;
  c.lengths = std::move(lengths);
  return c;
}

}  // namespace

TEST_CASE("attention_decode: values in the keys", "[ops][attention_decode][mla]") {
  if (under_test().properties().target.sm < 80) return;
  decode_case few = latent(16, {70, 1, 0, 32});
  few.kind = cache_kind::table;
  check_mla<f16>(few);
  decode_case many = latent(40, {33, 70});  // 80 rows: two tiles
  many.queries = 2;
  many.causal = causal_alignment::bottom_right;
  check_mla<bf16>(many);
  many.kind = cache_kind::list, many.page = 3, many.left = {2, 40}, many.pad = 8;
  many.softcap = 5, many.alibi = 1, many.sinks = true;
  check_mla<f16>(many);
  many.variant = "attention_mla_mma_f16_32x16";
  check_mla<f16>(many);
  // Other sizes, several heads of keys, and an output of f32.
  decode_case other = latent(6, {50});
  other.key_heads = 2, other.qk_size = 296, other.v_size = 264;
  check_mla<f16, f32>(other);
}

TEST_CASE("attention_decode: values in the keys, in parts", "[ops][attention_decode][mla]") {
  if (under_test().properties().target.sm < 80) return;
  decode_case c = latent(4, {1100, 300, 20, 0});
  c.kind = cache_kind::table;
  c.page = 64, c.room = 40;
  c.sinks = true;
  check_mla<f16>(c);
  decode_case many = latent(34, {700});
  many.window = {600, 0};
  check_mla<bf16>(many);
}

TEST_CASE("attention_decode: values in the keys that are NaN", "[ops][attention_decode][mla]") {
  if (under_test().properties().target.sm < 80) return;
  for (const u32 heads : {2u, 20u}) {
    decode_case c = latent(heads, {40});
    c.queries = 2;
    c.causal = causal_alignment::bottom_right;
    decode_memory<f16> memory(c);
    // The last key: its values are NaN for the last query alone.
    const key_place at = memory.numbers.place(c, 0, 39);
    for (const u32 e : {7u, 300u})
      memory.k.at(at.page, at.row, 0, e) = from_float<f16>(std::numeric_limits<float>::quiet_NaN());
    share_values(memory);
    memory.upload_again();
    compare_decode(c, memory, run_decode<f16>(c, memory));
  }
}

TEST_CASE("attention_decode: values in the keys, as append_kv writes them", "[ops][attention_decode][mla]") {
  if (under_test().properties().target.sm < 80) return;
  constexpr u32 heads = 8, tokens = 5, room = 16, latent_size = 512, rotary_size = 64, positions = 16;
  const stream& s = under_test().stream();
  std::mt19937_64 engine(3);
  std::uniform_real_distribution<float> any(-1, 1);
  const auto random = [&](std::size_t n) {
    std::vector<f16> x;
    for (std::size_t i = 0; i < n; ++i) x.push_back(f16(any(engine)));
    return upload(x);
  };
  const auto latent = random(tokens * latent_size), turned = random(tokens * rotary_size),
             on_q = random(heads * (latent_size + rotary_size));
  auto cos = under_test().allocate<f32>(positions * 32), sin = under_test().allocate<f32>(positions * 32);
  rotary_table(s, tensor_view<f32, 2>(cos, positions, 32), tensor_view<f32, 2>(sin, positions, 32));
  auto memory = under_test().allocate<f16>(room * (latent_size + rotary_size));
  auto lengths = upload(std::vector<i32>{0});
  const tensor_view<f16, 4> rows(memory, 1, room, 1, latent_size + rotary_size);
  // To append_kv the rotated part is K, and the rest V.
  kv_cache<f16> parts{.k = rows.slice(3, latent_size, rotary_size),
                      .v = rows.slice(3, 0, latent_size),
                      .lengths = tensor_view<const i32, 1>(lengths, 1)};
  append_kv(s, tensor_view<const f16, 4>(turned, 1, tokens, 1, rotary_size),
            tensor_view<const f16, 4>(latent, 1, tokens, 1, latent_size), parts,
            {.rotary = {.cos = tensor_view<f32, 2>(cos, positions, 32),
                        .sin = tensor_view<f32, 2>(sin, positions, 32)}});
  const auto kept = memory.download();
  const auto given = latent.download();
  for (u32 i = 0; i < tokens; ++i)
    for (u32 e = 0; e < latent_size; ++e)
      REQUIRE(same_bits(std::vector<f16>{kept[i * (latent_size + rotary_size) + e]},
                        std::vector<f16>{given[i * latent_size + e]}));
  auto after = upload(std::vector<i32>{static_cast<i32>(tokens)});
  auto on_o = under_test().allocate<f16>(heads * latent_size);
  attention_decode(
      s, tensor_view<const f16, 4>(on_q, 1, 1, heads, latent_size + rotary_size),
      kv_cache<f16>{
          .k = rows, .v = rows.slice(3, 0, latent_size), .lengths = tensor_view<const i32, 1>(after, 1)},
      tensor_view<f16, 4>(on_o, 1, 1, heads, latent_size));
  const auto q = on_q.download(), o = on_o.download();
  for (u32 h = 0; h < heads; ++h) {
    std::vector<double> x;
    double most = -1e9, total = 0, want = 0;
    for (u32 j = 0; j < tokens; ++j) {
      double dot = 0;
      for (u32 e = 0; e < latent_size + rotary_size; ++e)
        dot += to_double(q[h * (latent_size + rotary_size) + e]) *
               to_double(kept[j * (latent_size + rotary_size) + e]);
      x.push_back(dot / 24);
      most = std::max(most, x.back());
    }
    for (u32 j = 0; j < tokens; ++j) {
      const double p = std::exp(x[j] - most);
      total += p;
      want += p * to_double(given[j * latent_size + 300]);
    }
    REQUIRE(std::abs(to_double(o[h * latent_size + 300]) - want / total) < 2e-3);
  }
}

TEST_CASE("attention_decode: new values in the keys in the same call",
          "[ops][attention_decode][mla][append]") {
  if (under_test().properties().target.sm < 80) return;
  constexpr u32 heads = 4, tokens = 2, batches = 2, room = 40, size = 576, v_size = 512;
  const stream& s = under_test().stream();
  std::mt19937_64 engine(4);
  std::uniform_real_distribution<float> any(-1, 1);
  const auto random = [&](std::size_t n) {
    std::vector<bf16> x;
    for (std::size_t i = 0; i < n; ++i) x.push_back(bf16(any(engine)));
    return x;
  };
  const auto old = random(batches * room * size);
  const auto on_k = upload(random(batches * tokens * (size - v_size))),
             on_v = upload(random(batches * tokens * v_size)),
             on_q = upload(random(batches * tokens * heads * size));
  const tensor_view<const bf16, 4> q(on_q, batches, tokens, heads, size),
      k(on_k, batches, tokens, 1, size - v_size), v(on_v, batches, tokens, 1, v_size);
  const auto before = upload(std::vector<i32>{33, 0}), after = upload(std::vector<i32>{35, 2});
  struct state {
    buffer<bf16> rows, o;
  };
  const auto run = [&](bool apart) {
    state x{upload(old), under_test().allocate<bf16>(batches * tokens * heads * v_size)};
    const tensor_view<bf16, 4> rows(x.rows, batches, room, 1, size), o(x.o, batches, tokens, heads, v_size);
    kv_cache<bf16> cache{.k = rows, .v = rows.slice(3, 0, v_size)};
    cache.lengths = tensor_view<const i32, 1>(before, batches);
    attention_decode_options options{.causal = causal_alignment::bottom_right};
    if (apart) {
      kv_cache<bf16> written = cache;
      written.k = rows.slice(3, v_size, size - v_size);
      append_kv(s, k, v, written);
      cache.lengths = tensor_view<const i32, 1>(after, batches);
    } else {
      options.append = {.k = k, .v = v};
    }
    const auto workspace = under_test().allocate<u8>(
        std::max<u64>(attention_decode_workspace_bytes(s, q, cache, options), 16), uninitialised);
    options.workspace = workspace;
    attention_decode(s, q, cache, o, options);
    return x;
  };
  const state one = run(false), two = run(true);
  REQUIRE(same_bits(one.rows.download(), two.rows.download()));
  REQUIRE(same_bits(one.o.download(), two.o.download()));
  REQUIRE(!same_bits(one.rows.download(), old));
}

TEST_CASE("attention_decode: large heads without values in the keys", "[ops][attention_decode][mla]") {
  const stream& s = under_test().stream();
  auto q = upload(std::vector<f16>(600)), k = upload(std::vector<f16>(600)),
       v = upload(std::vector<f16>(600)), o = upload(std::vector<f16>(600));
  const auto refused = [&](errc code, std::string_view text, i64 size, i64 v_size, bool shared) {
    const tensor_view<const f16, 4> keys(k, 1, 1, 1, size);
    const tensor_view<const f16, 4> values =
        shared ? keys.slice(3, 0, v_size) : tensor_view<const f16, 4>(v, 1, 1, 1, v_size);
    const thrown error = catch_error([&] {
      attention_decode(s, tensor_view<const f16, 4>(q, 1, 1, 1, size),
                       kv_cache<const f16>{.k = keys, .v = values}, tensor_view<f16, 4>(o, 1, 1, 1, v_size));
    });
    CAPTURE(error.message);
    REQUIRE(error.code == code);
    REQUIRE(error.says(text));
  };
  refused(errc::invalid_argument, "at most 512", 520, 520, false);
  refused(errc::invalid_argument, "at most 576", 584, 512, true);
  refused(errc::invalid_argument, "at most 512", 576, 520, true);
  refused(errc::unsupported_device, "no kernel for head sizes", 571, 512, true);  // rows that begin anywhere
}
