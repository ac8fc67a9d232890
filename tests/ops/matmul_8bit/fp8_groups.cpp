// matmul_fp8 with scales of groups of 128 along K: activations 1 x 128, weights 128 x 128.
#include "tests/ops/matmul_8bit/fp8_support.hpp"

#include <kaio/ops/matmul_8bit/quantise_fp8.hpp>

#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("matmul_fp8: groups by every kernel at the edges of its tiles", "[ops][fp8]") {
  // One group, an odd and an even number of groups, a short last group; short tiles.
  for (const shape& s :
       {shape{1, 129, 257, 272}, shape{1, 65, 127, 128}, shape{1, 1, 130, 513}, shape{1, 17, 64, 1025}})
    check_every_fp8<f32>(s, fp8_aligned(s), {.groups = true, .bias = true, .alpha = -0.5f});
  const shape s{1, 130, 264, 384};
  check_every_fp8<bf16>(s, fp8_aligned(s), {.groups = true, .groups_by_columns = true, .bias = true});
  check_every_fp8<e4m3>(s, fp8_aligned(s), {.groups = true, .out_scale = 3});
  check_every_fp8<f16>(
      s, fp8_aligned(s),
      {.groups = true, .residual = true, .activation = matmul_activation::relu, .alpha = 0.5f});
}

TEST_CASE("matmul_fp8: groups alone by every kernel", "[ops][fp8]") {
  const fp8_terms_of_test alone{
      .scale_a = fp8_scales::none, .scale_b = fp8_scales::none, .groups = true, .alpha = 0.25f};
  // More than one tile for a block, of a long K.
  for (const shape& s :
       {shape{1, 130, 264, 384}, shape{1, 65, 136, 128}, shape{1, 70, 120, 1160}, shape{1, 257, 392, 272}})
    check_every_fp8<bf16>(s, fp8_aligned(s), alone);
}

TEST_CASE("matmul_fp8: groups in every layout", "[ops][fp8]") {
  const shape s{1, 35, 140, 263};
  for (const bool a : {false, true})
    for (const bool b : {false, true}) check_fp8<f32>(s, {a, b, false, 1, 2, 3}, {.groups = true});
}

TEST_CASE("matmul_fp8: groups of batches", "[ops][fp8]") {
  const shape s{2, 20, 140, 160};
  check_every_fp8<f32>({1, 20, 140, 160}, fp8_aligned(s), {.groups = true});
  check_fp8<f32>(s, fp8_aligned(s), {.groups = true});
  check_fp8<f32>(s, {false, false, false, 1, 1, 1}, {.groups = true, .residual = true});
}

// One group has far larger numbers than the others: a scale for all of K would lose the small ones.
TEST_CASE("matmul_fp8: a layer from quantise_fp8 to the product", "[ops][fp8]") {
  constexpr u32 m = 20, n = 150, k = 300, groups = 3, blocks = 2;
  std::vector<f32> x(m * k), w(n * k);
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<float> any(-1, 1);
  for (u32 i = 0; i < m * k; ++i) x[i] = any(engine) * (i % k < 128 ? 1000.0f : 1.0f);
  for (u32 i = 0; i < n * k; ++i) w[i] = any(engine) * (i % k < 128 ? 0.001f : 1.0f);
  auto dx = upload(x), dw = upload(w);
  auto a = under_test().allocate<e4m3>(m * k), b = under_test().allocate<e4m3>(n * k);
  auto of_a = under_test().allocate<f32>(m * groups), of_b = under_test().allocate<f32>(blocks * groups);
  auto c = under_test().allocate<f32>(m * n);
  const stream& s = under_test().stream();
  const tensor_view<f32, 2> scales_a(of_a, extents(m, groups),
                                     strides(1, m));  // along M, as DeepGEMM has them
  const tensor_view<f32, 2> scales_b(of_b, blocks, groups);
  quantise_fp8(s, tensor_view<const f32, 2>(dx, m, k), tensor_view<e4m3, 2>(a, m, k), scales_a);
  quantise_fp8_blocks(s, tensor_view<const f32, 2>(dw, n, k), tensor_view<e4m3, 2>(b, n, k), scales_b);
  matmul_fp8(s, tensor_view<const e4m3, 2>(a, m, k), tensor_view<const e4m3, 2>(b, n, k).transposed(),
             tensor_view<f32, 2>(c, m, n), {.groups_a = scales_a, .blocks_b = scales_b.transposed()});
  const auto got = c.download();
  for (u32 i = 0; i < m; ++i)
    for (u32 j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (u32 q = 0; q < k; ++q) {
        const double one = double{x[i * k + q]} * w[j * k + q];
        sum += one;
        magnitude += std::abs(one);
      }
      REQUIRE(std::abs(got[i * n + j] - sum) <= 0.05 * magnitude);
    }
}
