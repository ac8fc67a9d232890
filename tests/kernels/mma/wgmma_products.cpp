// One batch of wgmma multiplies tiles of every element, major order and swizzle exactly, for many numbers of
// columns.
#include "tests/kernels/mma/wgmma_model.hpp"

using namespace kaio;
using namespace kaio::tests;

TEST_CASE("wgmma multiplies halves in both major orders and all swizzles", "[wgmma]") {
  constexpr major k = major::k, mn = major::mn;
  check_product<wgmma_case<f32, f16, f16, 64, k, 128, k, 128>>();
  check_product<wgmma_case<f32, f16, f16, 64, k, 64, mn, 128, 2>>(2);
  check_product<wgmma_case<f32, f16, f16, 32, mn, 128, k, 32, 1>>(3);
  check_product<wgmma_case<f16, f16, f16, 64, mn, 64, mn, 64, 2>>(4);
  check_product<wgmma_case<f32, bf16, bf16, 48, mn, 32, mn, 32, 2>>(5);
  check_product<wgmma_case<f32, bf16, bf16, 16, k, 32, k, 64, 2>>(6);
  check_product<wgmma_case<f16, f16, f16, 8, k, 128, k, 128, 8>>(7);        // two panels
  check_product<wgmma_case<f32, bf16, bf16, 192, mn, 128, mn, 128, 1>>(8);  // three panels of B
}

TEST_CASE("wgmma multiplies 32-, 8- and 1-bit elements", "[wgmma]") {
  constexpr major k = major::k;
  check_product<wgmma_case<f32, tf32, tf32, 24>>();
  check_product<wgmma_case<f32, tf32, tf32, 8, k, 64, k, 32, 2>>(2);
  check_product<wgmma_case<f32, e4m3, e4m3, 40>>(3);
  check_product<wgmma_case<f16, e5m2, e4m3, 16, k, 128, k, 64, 4>>(4);
  check_product<wgmma_case<f32, e4m3, e5m2, 8, k, 32, k, 128, 4>>(5);
  check_product<wgmma_case<i32, i8, i8, 32>>(6);
  check_product<wgmma_case<i32, u8, i8, 8, k, 64, k, 64, 2>>(7);
  check_product<wgmma_case<i32, u8, u8, 48, k, 128, k, 32, 4>>(8);
  check_product<wgmma_case<i32, b1, b1, 16>>(9);
}

TEST_CASE("wgmma has up to 256 columns", "[wgmma]") {
  check_product<wgmma_case<f32, f16, f16, 256, major::k, 32, major::k, 32, 1>>();
  check_product<wgmma_case<f16, f16, f16, 200, major::k, 32, major::k, 32, 1>>(2);
}

TEST_CASE("wgmma negates its operands and clamps its sums", "[wgmma]") {
  using halves = wgmma_case<f32, f16, f16, 8, major::k, 32, major::k, 32, 1>;
  check_product<halves, wgmma_options{.negate_a = true}>();
  check_product<halves, wgmma_options{.negate_b = true}>();
  check_product<halves, wgmma_options{.negate_a = true, .negate_b = true}>();

  using bytes = wgmma_case<i32, i8, i8, 8, major::k, 32, major::k, 32, 1>;
  const std::vector<i8> ones(64 * 32, 1);
  std::vector<i32> c(64 * 8);
  for (u32 i = 0; i < c.size(); ++i)
    c[i] = i % 2 == 0 ? std::numeric_limits<i32>::max() - static_cast<i32>(i % 64) : static_cast<i32>(i);
  auto a = under_test().upload(ones);
  auto b = under_test().upload(std::vector<i8>(8 * 32, 1));
  auto clamped = under_test().upload(c), wrapped = under_test().upload(c);
  wgmma_product<bytes, wgmma_options{.saturate = true}>.launch(under_test().stream(), grid(1), a, b, clamped,
                                                               1u);
  wgmma_product<bytes>.launch(under_test().stream(), grid(1), a, b, wrapped, 1u);
  const auto got = clamped.download(), modulo = wrapped.download();
  for (u32 i = 0; i < c.size(); ++i) {
    CAPTURE(i);
    const std::int64_t sum = std::int64_t{c[i]} + 32;
    REQUIRE(got[i] == std::min<std::int64_t>(sum, std::numeric_limits<i32>::max()));
    REQUIRE(modulo[i] == static_cast<i32>(static_cast<u32>(sum)));
  }
}

TEST_CASE("wgmma of random halves is as exact as sums of f32", "[wgmma]") {
  using wide = wgmma_case<f32, f16, f16, 64>;
  std::mt19937 engine(11);
  std::normal_distribution<float> draw(0.0f, 1.0f);
  number_matrix a(64, wide::depth), b(wide::n, wide::depth);
  for (number_matrix* m : {&a, &b})
    for (double& x : m->numbers) x = static_cast<float>(f16(draw(engine)));
  auto a_buffer = under_test().upload(in_memory<f16>(a, major::k));
  auto b_buffer = under_test().upload(in_memory<f16>(b, major::k));
  auto c_buffer = poisoned<f32>(64 * wide::n);
  wgmma_product<wide>.launch(under_test().stream(), grid(1), a_buffer, b_buffer, c_buffer, 0u);
  const auto got = c_buffer.download();
  const auto wanted = product(a, b, 1, std::vector<double>(got.size()));
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - wanted[i]));
  // 64 products of about 1; the unit drops bits 13 places below the largest product of a group.
  CHECK(worst < 64 * 0x1p-12);
}
