// The kernels of qkv_project that multiply and finish heads in one launch: against double precision, and the
// bits of a product and of the heads in two launches.
#include "tests/ops/qkv/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void check_fused(qkv_case c, const std::string& tile) {
  const std::string name =
      std::string("qkv_project_mma_") + (std::is_same_v<T, f16> ? "f16_" : "bf16_") + tile;
  CAPTURE(name);
  c.variant = name.c_str();
  qkv_run<T> run(c);
  run.check_tensors();
  const auto bits = [&](const char* variant) {
    auto o = run.options();
    o.variant = variant;
    const cache_tensor<T> q(c.batches, c.tokens, c.q_heads, c.size),
        k(c.batches, c.tokens, c.k_heads, c.size), v(c.batches, c.tokens, c.v_heads, c.v_size);
    auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host);
    run.project({q.view(on_q), k.view(on_k), v.view(on_v)}, o);
    std::vector<T> all = on_q.download();
    for (const auto& more : {on_k.download(), on_v.download()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  REQUIRE(same_bits(bits(name.c_str()), bits("separate")));
}

bool has_fused(u32 sm) { return under_test().properties().target.sm >= sm; }

}  // namespace

TEST_CASE("qkv_project: kernels that finish heads", "[ops][qkv]") {
  if (!has_fused(80)) return;
  const qkv_case all{.tokens = 5,
                     .k = 72,
                     .biases = true,
                     .norms = true,
                     .pairs = 32,
                     .q_scale = 0.125f,
                     .out = {.pad = 8, .shift = 8}};
  u64 seed = 1;
  for (const i64 tokens : {1, 17, 40})
    for (const i64 size : {64, 128}) {
      qkv_case c = all;
      c.seed = seed++;
      c.batches = c.seed % 3 == 0 ? 2 : 1;
      c.tokens = tokens;
      c.size = c.v_size = size;
      c.q_heads = c.seed % 2 == 0 ? 4 : 2;
      c.k_heads = c.v_heads = 2;
      c.pairs = c.seed % 2 == 0 ? static_cast<u32>(size / 2) : 16;
      c.interleaved = c.seed % 3 == 0;
      c.three = c.seed % 2 == 0;
      c.offsets = c.seed % 2 == 0;
      c.out.heads_first = c.seed % 4 == 0;
      check_fused<bf16>(c, "32x128");
      check_fused<f16>(c, "128x128");
    }
  // The last tile has one head of three; rows beyond a tile.
  check_fused<f16>({.batches = 3, .tokens = 45, .k = 40, .q_heads = 1, .k_heads = 1, .v_heads = 1},
                   "128x128");
  check_fused<f16>({.batches = 3, .tokens = 45, .k = 40, .q_heads = 1, .k_heads = 1, .v_heads = 1}, "32x128");
}
