// ops::attention with everything drawn at random: shape, heads, layout, mask and options. A failure prints
// its seed.
#include <random>

#include "tests/ops/attention/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

attention_case draw(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto below = [&](u32 n) { return static_cast<u32>(engine() % n); };
  const auto chance = [&](u32 of) { return below(of) == 0; };
  const auto extent = [&](u32 most) { return chance(3) ? 64 * (1 + below(most / 64)) : 1 + below(most); };
  attention_case c;
  c.seed = seed;
  c.batches = 1 + below(2);
  c.key_heads = 1 + below(2);
  c.heads = c.key_heads * (1 + below(3));
  c.queries = extent(150);
  c.keys = chance(3) ? c.queries : extent(200);
  c.qk_size = chance(2) ? 64 : chance(8) ? 1 + below(256) : 8 * (1 + below(chance(3) ? 32 : 16));
  if (chance(10)) c.qk_size = 8 * (33 + below(32));
  c.v_size = chance(4) ? 8 * (1 + below(16)) : c.qk_size;
  c.heads_first = chance(2);
  c.pad = chance(2) ? 0 : chance(2) ? 8 * (1 + below(3)) : below(9);
  c.causal = static_cast<causal_alignment>(below(3));
  if (chance(3)) c.window = {static_cast<i64>(below(80)) - 1, static_cast<i64>(below(80)) - 1};
  if (chance(4)) c.softcap = 0.5f + static_cast<f32>(below(8));
  if (chance(3)) c.scale = static_cast<f32>(static_cast<i32>(below(9)) - 2) / 8;
  if (chance(3)) c.alibi = 1 + below(2);
  const auto tensor = [&] {
    return score_tensor_shape{1 + below(4), below(16), below(16), chance(2), chance(2)};
  };
  if (chance(4)) c.bias = tensor();
  if (chance(4)) c.keep = tensor();
  c.sinks = chance(4);
  c.lse = chance(2);
  c.range = chance(4) ? 3.0f : 1.0f;
  return c;
}

// By the model's choice, or by another kernel that the model considers nearly as fast.
template <class T>
void random_calls(std::uint64_t first, std::uint64_t count,
                  attention_precision precision = attention_precision::ieee) {
  if (!has_attention<T>()) return;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    attention_case c = draw(seed);
    c.precision = precision;
    check_attention_by<T>(
        c, [&](const auto& q, const auto& k, const auto& v, const auto& o, const attention_options& given) {
          const stream& s = under_test().stream();
          attention_options options = given;
          const auto all = ops::attention_variants(s, q, k, v, o, options);
          std::size_t count_of_near = 0;
          while (count_of_near < all.size() && all[count_of_near].refusal.empty() &&
                 all[count_of_near].seconds <= 1.5 * all[0].seconds)
            ++count_of_near;
          if (seed % 2 == 1 && count_of_near != 0) options.variant = all[seed / 2 % count_of_near].name;
          attention(s, q, k, v, o, options);
        });
  }
}

}  // namespace

TEST_CASE("attention: random calls, f16", "[ops][attention]") { random_calls<f16>(1000, 32); }
TEST_CASE("attention: random calls, bf16", "[ops][attention]") { random_calls<bf16>(2000, 32); }
TEST_CASE("attention: random calls, f32", "[ops][attention]") { random_calls<f32>(3000, 32); }
TEST_CASE("attention: random calls, tf32", "[ops][attention]") {
  random_calls<f32>(4000, 32, attention_precision::tf32);
}
