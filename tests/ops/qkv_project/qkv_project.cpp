// qkv_project into tensors: every option against double precision.
#include "tests/ops/qkv_project/support.hpp"

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

TEST_CASE("qkv_project: Q, K and V by their own weights, the same bits in each of many runs", "[ops][qkv]") {
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const i64 tokens = 5, k = 48, size = 64;
  const auto constant = [&](float x) { return gpu.upload(std::vector<f16>(2 * size * k, f16(x))); };
  auto one = constant(1), two = constant(2), three = constant(3);
  auto x_memory = gpu.upload(std::vector<f16>(tokens * k, f16(0.5f)));
  const tensor_view<const f16, 2> x(x_memory, tokens, k);
  const auto weight = [&](buffer<f16>& memory) { return tensor_view<const f16, 2>(memory, 2 * size, k); };
  const qkv_weights w{weight(one), weight(two), weight(three)};
  for (int run = 0; run < 40; ++run) {
    auto q = gpu.allocate<f16>(tokens * 2 * size), of_k = gpu.allocate<f16>(tokens * 2 * size),
         v = gpu.allocate<f16>(tokens * 2 * size);
    const auto heads = [&](buffer<f16>& memory) { return tensor_view<f16, 3>(memory, tokens, 2, size); };
    qkv_project_options options{.variant = run % 2 == 0 ? "separate" : ""};
    const qkv_outputs to{heads(q), heads(of_k), heads(v)};
    auto workspace = gpu.allocate<u8>(qkv_project_workspace_bytes(s, x, w, to, options) + 16);
    options.workspace = workspace;
    qkv_project(s, x, w, to, options);
    REQUIRE(same_bits(q.download(), std::vector<f16>(tokens * 2 * size, f16(24.0f))));
    REQUIRE(same_bits(of_k.download(), std::vector<f16>(tokens * 2 * size, f16(48.0f))));
    REQUIRE(same_bits(v.download(), std::vector<f16>(tokens * 2 * size, f16(72.0f))));
  }
}
