// qkv_project into tensors: every option against double precision.
#include "tests/ops/qkv/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

qkv_case draw(u64 seed) {
  std::mt19937_64 engine(seed);
  const auto below = [&](u64 n) { return static_cast<i64>(engine() % n); };
  const std::array<i64, 6> sizes{64, 128, 64, 80, 7, 256};
  qkv_case c;
  c.seed = seed;
  c.batches = below(3) + 1;
  c.tokens = below(4) + 1;
  c.k = std::array<i64, 4>{32, 64, 24, 5}[static_cast<std::size_t>(below(4))];
  c.size = sizes[static_cast<std::size_t>(below(6))];
  c.v_size = below(2) == 0 ? c.size : sizes[static_cast<std::size_t>(below(6))];
  c.k_heads = below(2) + 1;
  c.q_heads = c.k_heads * (below(2) + 1);
  c.v_heads = below(3) == 0 ? below(3) + 1 : c.k_heads;
  c.three = below(2) == 0;
  c.k_first = below(3) == 0;
  c.biases = below(2) == 0;
  c.norms = below(2) == 0;
  c.pairs = static_cast<u32>(below(3) == 0   ? 0
                             : below(2) == 0 ? c.size / 2
                                             : below(static_cast<u64>(c.size / 2)) + 1);
  c.interleaved = below(2) == 0;
  c.positions = below(3) == 0;
  c.offsets = !c.positions && below(2) == 0;
  c.q_scale = below(2) == 0 ? 1.0f : 0.125f;
  c.out = {below(2) == 0, static_cast<u32>(below(2) * below(17)), static_cast<u32>(below(2) * below(9))};
  return c;
}

}  // namespace

TEST_CASE("qkv_project: into tensors, random calls", "[ops][qkv]") {
  for (u64 seed = 1; seed <= 24; ++seed) {
    const qkv_case c = draw(seed);
    if (seed % 2 == 0) check_qkv<f16>(c);
    if (seed % 2 == 1) check_qkv<bf16>(c);
  }
}

TEST_CASE("qkv_project: nothing to do, one token, no keys", "[ops][qkv]") {
  check_qkv<f16>({.tokens = 0});
  check_qkv<f16>({.batches = 0});
  check_qkv<bf16>({.tokens = 1, .q_heads = 1, .norms = true, .pairs = 32});
  check_qkv<f16>({.k_heads = 0, .v_heads = 0, .biases = true});
}
