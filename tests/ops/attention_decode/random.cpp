// attention_decode with everything drawn at random: the cache's form, lengths, heads, layout, mask and
// options. A failure prints its seed.
#include <random>

#include "tests/ops/attention_decode/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

decode_case draw(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto below = [&](u32 n) { return static_cast<u32>(engine() % n); };
  const auto chance = [&](u32 of) { return below(of) == 0; };
  constexpr u32 groups[] = {1, 2, 7, 16}, queries[] = {1, 1, 2, 5, 17}, pages[] = {1, 3, 16, 64, 100};
  decode_case c;
  c.seed = seed;
  c.key_heads = 1 + below(2);
  c.heads = c.key_heads * groups[below(4)];
  c.queries = queries[below(5)];
  c.qk_size = chance(2) ? 64 : chance(6) ? 1 + below(256) : 8 * (1 + below(chance(3) ? 32 : 16));
  c.v_size = chance(4) ? 8 * (1 + below(16)) : c.qk_size;
  c.kind = static_cast<cache_kind>(below(3));
  c.page = pages[below(5)];
  c.lengths.clear();
  const u32 batches = 1 + below(3), most = chance(3) ? 400 : 90;
  for (u32 b = 0; b < batches; ++b)
    c.lengths.push_back(chance(8)   ? 0
                        : chance(3) ? c.page * (1 + below(most / c.page + 1))
                                    : 1 + below(most));
  if (chance(3))
    for (const u32 n : c.lengths) c.left.push_back(below(std::min(n, 40u) + 1));
  c.room = chance(2) ? 0 : c.kind == cache_kind::contiguous ? c.longest() + below(300) : 1 + below(30);
  c.heads_first = chance(2);
  c.together = chance(3) && c.qk_size == c.v_size;
  c.indexed = c.kind == cache_kind::contiguous && chance(2);
  c.by_last_page = c.kind == cache_kind::list && chance(2);
  c.shared = c.kind != cache_kind::contiguous && chance(3);
  c.pad = chance(2) ? 0 : chance(2) ? 8 * (1 + below(3)) : below(9);
  if (chance(2)) c.causal = causal_alignment::bottom_right;
  if (chance(3)) c.window = {static_cast<i64>(below(80)) - 1, static_cast<i64>(below(20)) - 1};
  if (chance(4)) c.softcap = 0.5f + static_cast<f32>(below(8));
  if (chance(3)) c.scale = static_cast<f32>(static_cast<i32>(below(9)) - 2) / 8;
  if (chance(3)) c.alibi = 1 + below(2);
  c.sinks = chance(4);
  c.invariant = chance(5);
  if (chance(4)) c.max_length = c.longest() + below(100);
  if (c.max_length == 0 && chance(6)) c.variant = "attention_decode_simt";
  c.scales = static_cast<scale_kind>(below(5));
  return c;
}

template <class T, class O = T, class C = T>
void random_calls(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) check_decode<T, O, C>(draw(seed));
}

}  // namespace

TEST_CASE("attention_decode: random calls, f16", "[ops][attention_decode]") { random_calls<f16>(1000, 24); }
TEST_CASE("attention_decode: random calls, bf16", "[ops][attention_decode]") { random_calls<bf16>(2000, 24); }
TEST_CASE("attention_decode: random calls, f32", "[ops][attention_decode]") { random_calls<f32>(3000, 16); }
TEST_CASE("attention_decode: random calls, f16 to f32", "[ops][attention_decode]") {
  random_calls<f16, f32>(4000, 8);
}
TEST_CASE("attention_decode: random calls, caches of 8 bits", "[ops][attention_decode][codes]") {
  random_calls<f16, f16, e4m3>(5000, 8);
  random_calls<bf16, bf16, e4m3>(5100, 8);
  random_calls<f16, f32, e5m2>(5200, 8);
  random_calls<bf16, bf16, i8>(5300, 8);
  random_calls<f16, f16, i8>(5400, 8);
  random_calls<f32, f32, e4m3>(5500, 4);
}
