// ops::attention_backward with everything drawn at random: shape, heads, layout, mask, options, which
// gradients are wanted, and whether the operation itself computed O and the log-sum-exp. A failure prints its seed.
#include <random>

#include "tests/ops/attention_backward/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

backward_case draw(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto below = [&](u32 n) { return static_cast<u32>(engine() % n); };
  const auto chance = [&](u32 of) { return below(of) == 0; };
  const auto extent = [&](u32 most) { return chance(4) ? 32 * (1 + below(most / 32)) : 1 + below(most); };
  backward_case c;
  c.seed = seed;
  c.batches = 1 + below(2);
  c.key_heads = 1 + below(2);
  c.heads = c.key_heads * (1 + below(3));
  c.queries = extent(90);
  c.keys = chance(3) ? c.queries : extent(110);
  c.qk_size = chance(3) ? 64 : chance(6) ? 1 + below(300) : 8 * (1 + below(chance(4) ? 24 : 12));
  c.v_size = chance(4) ? 8 * (1 + below(12)) : c.qk_size;
  c.heads_first = chance(2);
  c.pad = chance(2) ? 0 : chance(2) ? 8 * (1 + below(3)) : below(9);
  c.causal = static_cast<causal_alignment>(below(3));
  if (chance(3)) c.window = {static_cast<i64>(below(60)) - 1, static_cast<i64>(below(60)) - 1};
  if (chance(3)) c.softcap = 0.5f + static_cast<f32>(below(8));
  if (chance(3)) c.scale = static_cast<f32>(static_cast<i32>(below(9)) - 2) / 8;
  if (chance(3)) c.alibi = 1 + below(2);
  const auto tensor = [&] {
    return score_tensor_shape{1 + below(4), below(16), below(16), chance(2), chance(2)};
  };
  if (chance(3)) c.bias = tensor();
  if (chance(4)) c.keep = tensor();
  c.dbias = c.bias.exists() && !chance(4);
  c.dbias_own_type = chance(2);
  c.sinks = chance(3);
  c.dsinks = c.sinks && !chance(4);
  c.dlse = chance(2);
  if (chance(4)) {
    c.wants_dq = chance(2);
    c.wants_dk = chance(2);
    c.wants_dv = chance(2);
  }
  c.out = static_cast<backward_case::out_of>(below(3));
  return c;
}

template <class T>
void random_calls(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) check_backward<T>(draw(seed));
}

}  // namespace

TEST_CASE("attention_backward: random calls, f16", "[ops][attention_backward]") {
  random_calls<f16>(1000, 10);
}
TEST_CASE("attention_backward: random calls, bf16", "[ops][attention_backward]") {
  random_calls<bf16>(2000, 10);
}
TEST_CASE("attention_backward: random calls, f32", "[ops][attention_backward]") {
  random_calls<f32>(3000, 10);
}
