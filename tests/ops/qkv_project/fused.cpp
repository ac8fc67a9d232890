// The kernels of qkv_project that multiply and finish heads in one launch: against double precision, and the
// bits of a product and of the heads in two launches.
#include "tests/ops/qkv_project/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void check_fused(qkv_case c, const std::string& family, const std::string& tile) {
  const std::string name = "qkv_project_" + family + (std::is_same_v<T, f16> ? "_f16_" : "_bf16_") + tile;
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
      check_fused<bf16>(c, "mma", "32x128");
      check_fused<f16>(c, "mma", "128x128");
    }
  // The last tile has one head of three; rows beyond a tile.
  const qkv_case three{.batches = 3, .tokens = 45, .k = 40, .q_heads = 1, .k_heads = 1, .v_heads = 1};
  check_fused<f16>(three, "mma", "128x128");
  check_fused<f16>(three, "mma", "32x128");
}

TEST_CASE("qkv_project: kernels for sm_90a that finish heads", "[ops][qkv]") {
  if (!(under_test().properties().target == ptx::target{90, true})) return;
  // Rows: fewer than a warpgroup has, shared by two parts of a tile, more than one tile.
  // Columns: a part of a tile, tiles that share heads, whole tiles.
  // Steps along K: one per stage, and more.
  u64 seed = 1;
  for (const i64 tokens : {1, 17, 100, 129, 300})
    for (const i64 size : {64, 128})
      for (const std::string tile : {"128x128", "128x256_c2x1"}) {
        qkv_case c{.tokens = tokens,
                   .k = 72,
                   .size = size,
                   .v_size = size,
                   .biases = true,
                   .norms = true,
                   .positions = true,
                   .q_scale = 0.125f,
                   .out = {.pad = 8, .shift = 8},
                   .x_pad = 8};
        c.seed = seed++;
        if (tokens % 2 == 0 && c.seed % 2 == 0) {
          c.batches = 2;
          c.tokens = tokens / 2;
        }
        c.q_heads = c.seed % 5 + 1;
        c.k_heads = c.v_heads = c.seed % 3 == 0 ? 2 : 1;
        c.pairs = c.seed % 4 == 0 ? 16 : static_cast<u32>(size / 2);
        c.interleaved = c.seed % 3 == 1;
        c.out.heads_first = c.seed % 4 == 1;
        if (c.seed % 4 == 2) c.k = 456;
        if (c.seed % 2 == 0)
          check_fused<f16>(c, "sm90", tile);
        else
          check_fused<bf16>(c, "sm90", tile);
      }
  // One head of three in the last tile, positions of tokens and offsets of batches.
  const qkv_case three{.batches = 3,
                       .tokens = 43,
                       .k = 40,
                       .q_heads = 1,
                       .k_heads = 1,
                       .v_heads = 1,
                       .offsets = true,
                       .pairs = 24};
  check_fused<f16>(three, "sm90", "128x128");
  check_fused<bf16>(three, "sm90", "128x256_c2x1");
}

// With fewer tiles than half of the multiprocessors each is computed in halves.
TEST_CASE("qkv_project: kernels for sm_90a that finish heads, whole tiles and several of a block",
          "[ops][qkv]") {
  const device_properties& of = under_test().properties();
  if (!(of.target == ptx::target{90, true})) return;
  const auto heads = [&](i64 tiles) { return std::max<i64>(tiles, 4) - 2; };
  const qkv_case many{
      .k = 40, .size = 128, .v_size = 128, .biases = true, .positions = true, .pairs = 64, .seed = 3};
  qkv_case c = many;
  c.tokens = 300;
  c.q_heads = heads(static_cast<i64>(of.multiprocessors) / 3 + 1);
  check_fused<f16>(c, "sm90", "128x128");
  c.tokens = 200;
  c.q_heads = heads(static_cast<i64>(of.multiprocessors) + 2);
  check_fused<bf16>(c, "sm90", "128x256_c2x1");
}

// The choice depends on the number of tokens, and on the share of the device that their tiles fill.
TEST_CASE("qkv_project: kernels for sm_90a that finish heads, where they are chosen", "[ops][qkv]") {
  const device& gpu = under_test();
  if (!(gpu.properties().target == ptx::target{90, true})) return;
  const i64 units = gpu.properties().multiprocessors;
  const auto choice = [&](i64 tokens, i64 heads, bool three, i64 k = 64) {
    const i64 size = 128, n = (heads + 2) * size;
    const auto memory = [&](i64 count) { return gpu.allocate<bf16>(static_cast<u64>(count)); };
    auto x = memory(tokens * k), w = memory(n * k), q = memory(tokens * heads * size),
         of_k = memory(tokens * size), of_v = memory(tokens * size);
    const tensor_view<const bf16, 2> of_x(x, tokens, k), of_w(w, n, k);
    const qkv_outputs to{tensor_view<bf16, 3>(q, tokens, heads, size),
                         tensor_view<bf16, 3>(of_k, tokens, 1, size),
                         tensor_view<bf16, 3>(of_v, tokens, 1, size)};
    const qkv_weights all =
        three ? qkv_weights{of_w.slice(0, 0, heads * size), of_w.slice(0, heads * size, size),
                            of_w.slice(0, (heads + 1) * size, size)}
              : qkv_weights(of_w);
    return ops::qkv_project_choice(gpu.stream(), of_x, all, to).name;
  };
  // The number of Q heads with which the tiles take `rounds` rounds of all multiprocessors.
  const auto heads = [&](i64 tokens, double rounds) {
    return static_cast<i64>(rounds * static_cast<double>(units * 128) / static_cast<double>(tokens)) - 2;
  };
  REQUIRE(choice(256, heads(256, 0.6), false) == "qkv_project_sm90_bf16_128x128");
  REQUIRE(choice(256, heads(256, 0.6), true) == "separate");
  REQUIRE(choice(256, heads(256, 0.6), false, 4096) == "qkv_project_sm90_bf16_128x128");
  REQUIRE(choice(256, heads(256, 0.6), false, 4104) == "separate");
  REQUIRE(choice(256, heads(256, 0.3), false) == "separate");
  REQUIRE(choice(255, heads(256, 0.6), false) == "separate");
  REQUIRE(choice(512, heads(512, 1.3), false) == "separate");
  REQUIRE(choice(512, heads(512, 1.95), false) == "qkv_project_sm90_bf16_128x128");
  REQUIRE(choice(1024, heads(1024, 1.8), false) == "qkv_project_sm90_bf16_128x256_c2x1");
  REQUIRE(choice(1024, heads(1024, 2.6), false) == "separate");
}
