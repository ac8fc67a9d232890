// matmul_fp8 with scales of rows and columns: every kernel, operand and output.
#include "tests/ops/matmul_8bit/fp8_support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("matmul_fp8: every output", "[ops][fp8]") {
  const fp8_terms_of_test rich{
      .bias = true, .residual = true, .activation = matmul_activation::relu, .alpha = 0.5f};
  const shape s{1, 33, 21, 79};
  for (const layout& l : {fp8_aligned(s), layout{}, layout{true, false, false, 1, 2, 3},
                          layout{true, true, true, 0, 1, 2}, layout{false, true, false, 1, 2, 3}}) {
    check_fp8<f32>(s, l, {});
    check_fp8<f32>(s, l, rich);
    check_fp8<f16>(s, l, rich);
    check_fp8<bf16>(s, l, rich);
    check_fp8<e4m3>(s, l, {.bias = true, .out_scale = 0.37f});
  }
}

TEST_CASE("matmul_fp8: both formats", "[ops][fp8]") {
  const shape s{1, 20, 40, 96};
  for (const layout& l : {fp8_aligned(s), layout{false, false, false, 1, 1, 1}}) {
    check_fp8<bf16, e5m2, e5m2>(s, l, {.bias = true});
    check_fp8<f32, e4m3, e5m2>(s, l, {});
    check_fp8<f32, e5m2, e4m3>(s, l, {.groups = true});
    check_fp8<f32, e5m2, e5m2>(s, l, {.groups = true});
  }
  check_every_fp8<f32, e4m3, e5m2>({1, 130, 136, 304}, fp8_aligned({1, 130, 136, 304}), {.groups = true});
  check_every_fp8<f32, e5m2, e5m2>({1, 130, 136, 300}, fp8_aligned({1, 130, 136, 300}), {});
}

TEST_CASE("matmul_fp8: every form of scales", "[ops][fp8]") {
  const shape s{1, 9, 18, 32};
  for (const fp8_scales a : {fp8_scales::none, fp8_scales::one, fp8_scales::each})
    for (const fp8_scales b : {fp8_scales::none, fp8_scales::one, fp8_scales::each})
      check_fp8<f32>(s, fp8_aligned(s), {.scale_a = a, .scale_b = b, .alpha = 0.25f});
}

TEST_CASE("matmul_fp8: every kernel at the edges of its tiles", "[ops][fp8]") {
  for (const shape& s :
       {shape{1, 129, 257, 272}, shape{1, 65, 127, 257}, shape{1, 1, 130, 513}, shape{1, 17, 64, 1025}})
    check_every_fp8<f32>(s, fp8_aligned(s), {.bias = true, .alpha = -0.5f});
  const shape s{1, 130, 264, 200};
  check_every_fp8<bf16>(s, fp8_aligned(s), {.bias = true});
  check_every_fp8<e4m3>(s, fp8_aligned(s), {.out_scale = 3});
  for (const shape& few : {shape{1, 39, 208, 400}, shape{1, 17, 72, 3104}})
    check_every_fp8<f16>(few, fp8_aligned(few), {.bias = true});
  check_every_fp8<bf16>({1, 257, 272, 128}, fp8_aligned({1, 257, 272, 128}), {.scale_a = fp8_scales::one});
}

TEST_CASE("matmul_fp8: random numbers by every kernel", "[ops][fp8]") {
  const shape s{1, 70, 136, 400};
  check_every_fp8<f32>(s, fp8_aligned(s), {.random = true});
  check_every_fp8<f32>(s, fp8_aligned(s), {.groups = true, .random = true});
}

TEST_CASE("matmul_fp8: batches", "[ops][fp8]") {
  const shape s{3, 20, 40, 48};
  check_fp8<f32>(s, fp8_aligned(s), {.residual = true});
  check_fp8<f16>(s, {false, false, false, 1, 1, 1}, {.bias = true});
  check_fp8<f32>(s, {false, true, true, 1, 1, 1}, {.residual = true});
}

TEST_CASE("matmul_fp8: empty extents", "[ops][fp8]") {
  for (const shape& s :
       {shape{1, 0, 4, 4}, shape{1, 4, 0, 4}, shape{1, 5, 7, 0}, shape{2, 3, 9, 0}, shape{1, 7, 3, 1}})
    for (const bool groups : {false, true}) check_fp8<f32>(s, {}, {.groups = groups, .bias = true});
  check_fp8<f32>({1, 5, 7, 9}, {}, {.bias = true, .alpha = 0});
  check_fp8<f32>({1, 5, 7, 9}, {}, {.groups = true, .bias = true, .alpha = 0});
}

TEST_CASE("matmul_fp8: special values", "[ops][fp8]") {
  // Every code of both formats once, by the kernel that converts: 1 * code.
  constexpr u32 codes = 256;
  const auto check = [&]<class T>(T) {
    std::vector<T> x(codes);
    for (u32 i = 0; i < codes; ++i) x[i] = T::from_bits(static_cast<std::uint8_t>(i));
    auto da = upload(x);
    auto db = upload(std::vector<e4m3>{e4m3(1.0f)});
    auto c = under_test().allocate<f32>(codes);
    matmul_fp8(under_test().stream(), tensor_view<const T, 2>(da, codes, 1),
               tensor_view<const e4m3, 2>(db, 1, 1), tensor_view<f32, 2>(c, codes, 1));
    const auto got = c.download();
    for (u32 i = 0; i < codes; ++i) {
      CAPTURE(i);
      const double want = to_double(x[i]);
      REQUIRE((std::isnan(want) ? std::isnan(got[i]) : got[i] == want));
    }
  };
  check(e4m3{});
  check(e5m2{});
}

TEST_CASE("matmul_fp8: kernels are listed, loaded ahead and taken by name", "[ops][fp8]") {
  REQUIRE(ops::matmul_fp8_kernels().size() == 31);
  const shape s{1, 33, 130, 256};
  for (const bool groups : {false, true}) {
    fp8_case<e4m3, e4m3, bf16> x(s, fp8_aligned(s), {.groups = groups});
    const auto a = view_of<const e4m3>(x.da, x.a), b = view_of<const e4m3>(x.db, x.b);
    const auto c = view_of<bf16>(x.dc, x.c);
    ops::matmul_fp8_warmup(under_test(), a, b, c, x.options);
    // Variants that can run the call come first, from fast to slow.
    const auto all = ops::matmul_fp8_variants(under_test().stream(), a, b, c, x.options);
    REQUIRE(all.size() >= 2);
    for (std::size_t i = 1; i < all.size(); ++i) {
      REQUIRE((all[i - 1].refusal.empty() || !all[i].refusal.empty()));
      if (all[i].refusal.empty()) REQUIRE(all[i].seconds >= all[i - 1].seconds);
    }
    if (all.back().refusal.empty()) continue;
    require_refusal(errc::invalid_argument, "kaio: matmul_fp8", all.back().refusal,
                    [&] { x.run(all.back().name); });
  }
}
